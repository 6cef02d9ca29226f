module example.com/fastmac

// The oldest with hash.Cloner.
go 1.25.0

// The oldest that finds the AES instructions of Apple's CPUs.
require golang.org/x/sys v0.42.0

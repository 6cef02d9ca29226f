module example.com/fastmac/internal/interop

go 1.26.0

replace example.com/fastmac => ../..

require (
	example.com/fastmac v0.0.0-00010101000000-000000000000
	golang.org/x/crypto v0.58.0
)

require golang.org/x/sys v0.49.0 // indirect

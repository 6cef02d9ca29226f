module example.com/fastmac/sshmac

go 1.26.0

require (
	example.com/fastmac v0.0.0
	golang.org/x/crypto v0.56.0
)

require golang.org/x/sys v0.47.0 // indirect

replace example.com/fastmac => ../

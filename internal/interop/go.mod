module example.com/fastmac/internal/interop

go 1.26.0

require (
	example.com/fastmac v0.0.0
	example.com/fastmac/sshmac v0.0.0
	golang.org/x/crypto v0.58.0
)

require golang.org/x/sys v0.49.0 // indirect

replace (
	example.com/fastmac => ../..
	example.com/fastmac/sshmac => ../../sshmac
)

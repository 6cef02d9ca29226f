module example.com/fastmac/internal/assurance

go 1.26.0

require (
	example.com/fastmac v0.0.0
	example.com/fastmac/packet v0.0.0-00010101000000-000000000000
	example.com/fastmac/sshmac v0.0.0
	golang.org/x/arch v0.32.0
	golang.org/x/crypto v0.56.0
	golang.org/x/sync v0.21.0
	golang.org/x/sys v0.47.0
	golang.org/x/tools v0.47.0
)

require golang.org/x/mod v0.37.0 // indirect

replace (
	example.com/fastmac => ../..
	example.com/fastmac/packet => ../../packet
	example.com/fastmac/sshmac => ../../sshmac
)

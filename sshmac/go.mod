module example.com/fastmac/sshmac

go 1.26.0

require (
	example.com/fastmac v0.0.0
	// The oldest without a known vulnerability in ssh. It needs Go 1.26.
	golang.org/x/crypto v0.56.0
)

require golang.org/x/sys v0.47.0 // indirect

replace example.com/fastmac => ../

module example.com/fastmac/packet

go 1.25.0

require (
	example.com/fastmac v0.0.0
	golang.org/x/sys v0.42.0
)

replace example.com/fastmac => ../

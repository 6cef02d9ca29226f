module example.com/fastmac/packet

go 1.26.0

require example.com/fastmac v0.0.0

require golang.org/x/sys v0.47.0 // indirect

replace example.com/fastmac => ../

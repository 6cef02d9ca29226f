module example.com/fastmac/packet

go 1.25.0

require example.com/fastmac v0.0.0

require golang.org/x/sys v0.42.0 // indirect

replace example.com/fastmac => ../

module example.com/fastmac/internal/peers

go 1.26.0

require (
	example.com/fastmac v0.0.0
	github.com/dchest/siphash v1.2.3
	github.com/klauspost/cpuid/v2 v2.4.2
	github.com/minio/highwayhash v1.0.4
	github.com/zeebo/blake3 v0.2.4
	golang.org/x/crypto v0.58.0
)

require golang.org/x/sys v0.49.0 // indirect

replace example.com/fastmac => ../..

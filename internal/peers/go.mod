module example.com/fastmac/internal/peers

go 1.26.0

require (
	al.essio.dev/pkg/shellescape v1.6.1
	example.com/fastmac v0.0.0
	example.com/fastmac/sshmac v0.0.0
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794
	github.com/dchest/siphash v1.2.3
	github.com/jedib0t/go-pretty/v6 v6.8.3
	github.com/klauspost/cpuid/v2 v2.4.2
	github.com/minio/highwayhash v1.0.4
	github.com/zeebo/blake3 v0.2.4
	golang.org/x/crypto v0.58.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace (
	example.com/fastmac => ../..
	example.com/fastmac/sshmac => ../../sshmac
)

module example.com/fastmac/internal/dropin

go 1.26.0

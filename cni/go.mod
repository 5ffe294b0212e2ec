module ipledger/cni

go 1.26

require (
	github.com/containernetworking/cni v1.3.1
	github.com/vishvananda/netns v0.0.4
	golang.org/x/sys v0.23.0
)

package main

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
)

// newResult says the agent's answer as CNI 1.1.0, which the library converts to older versions. The interface entry is
// Kube-OVN's habit: plugins that delegate to us ignore it and name their own.
func newResult(response *cniResponse, netns string) (*types100.Result, error) {
	nic := &types100.Interface{Name: response.NicName, Mac: response.MacAddress, Mtu: response.MTU, Sandbox: netns}
	result := &types100.Result{CNIVersion: types100.ImplementedSpecVersion, Interfaces: []*types100.Interface{nic}}
	addresses, routes := response.IPs, response.Routes
	if addresses == nil && response.Address != "" {
		addresses = unflatten(response)
	}
	for _, assigned := range addresses {
		_, subnet, err := net.ParseCIDR(assigned.CIDR)
		ip, gateway := net.ParseIP(assigned.IP), net.ParseIP(assigned.Gateway)
		if err != nil || ip == nil {
			return nil, fmt.Errorf("address %q in subnet %q", assigned.IP, assigned.CIDR)
		}
		result.IPs = append(result.IPs, &types100.IPConfig{
			Address: net.IPNet{IP: ip, Mask: subnet.Mask}, Gateway: gateway, Interface: types100.Int(0),
		})
		if len(response.Routes) == 0 && gateway != nil { // no routes at all mean a default route by each gateway
			routes = append(routes, route{Gateway: assigned.Gateway})
		}
	}
	for _, wanted := range routes {
		gateway, everything := net.ParseIP(wanted.Gateway), "::/0"
		if gateway.To4() != nil {
			everything = "0.0.0.0/0"
		}
		_, subnet, err := net.ParseCIDR(cmp.Or(wanted.Destination, everything)) // clears the host bits
		if err != nil || (gateway == nil && wanted.Gateway != "") {
			return nil, fmt.Errorf("route to %q by %q", wanted.Destination, wanted.Gateway)
		}
		result.Routes = append(result.Routes, &types.Route{Dst: *subnet, GW: gateway})
	}
	return result, nil
}

// unflatten says the flat shape in terms of the other.
func unflatten(response *cniResponse) (addresses []address) {
	cidrs, gateways := strings.Split(response.CIDR, ","), strings.Split(response.Gateway, ",")
	for i, ip := range strings.Split(response.Address, ",") {
		addresses = append(addresses, address{IP: ip, CIDR: cidrs[i%len(cidrs)], Gateway: gateways[i%len(gateways)]})
	}
	return addresses
}

package main

// The agent's response as a CNI result.

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
)

// newResult converts the agent's response to a CNI 1.1.0 result, which the library converts to older versions. Kube-OVN's
// plugin adds an interface entry, too: plugins that delegate to an IPAM plugin ignore it. A NIC that the agent made also has
// an interface on the node, after the one in the sandbox.
func newResult(response *cniResponse, netns string) (*types100.Result, error) {
	nic := &types100.Interface{Name: response.NicName, Mac: response.MacAddress, Mtu: response.MTU, Sandbox: netns}
	result := &types100.Result{CNIVersion: types100.ImplementedSpecVersion, Interfaces: []*types100.Interface{nic}}
	if response.HostNicName != "" {
		result.Interfaces = append(result.Interfaces, &types100.Interface{Name: response.HostNicName, Mtu: response.MTU})
	}
	addresses, routes := response.IPs, response.Routes
	if addresses == nil && response.Address != "" {
		addresses = fromFlatFields(response)
	}
	for _, assigned := range addresses {
		_, subnet, err := net.ParseCIDR(assigned.CIDR)
		ip, gateway := net.ParseIP(assigned.IP), net.ParseIP(cmp.Or(assigned.Gateway, assigned.NodeGateway))
		if err != nil || ip == nil || (ip.To4() == nil) != (subnet.IP.To4() == nil) {
			return nil, fmt.Errorf("address %q in subnet %q", assigned.IP, assigned.CIDR)
		}
		result.IPs = append(result.IPs, &types100.IPConfig{
			Address: net.IPNet{IP: ip, Mask: subnet.Mask}, Gateway: gateway, Interface: types100.Int(0),
		})
		if len(response.Routes) == 0 && assigned.Gateway != "" && gateway != nil { // without routes, each gateway gets a default route
			routes = append(routes, route{Gateway: assigned.Gateway})
		}
	}
	for _, route := range routes {
		gateway, defaultDestination := net.ParseIP(route.Gateway), "::/0"
		if gateway.To4() != nil {
			defaultDestination = "0.0.0.0/0"
		}
		_, subnet, err := net.ParseCIDR(cmp.Or(route.Destination, defaultDestination)) // clears the host bits
		if err != nil || (gateway == nil && route.Gateway != "") {
			return nil, fmt.Errorf("route to %q by %q", route.Destination, route.Gateway)
		}
		result.Routes = append(result.Routes, &types.Route{Dst: *subnet, GW: gateway})
	}
	return result, nil
}

// newResultOfAll merges the results of all NICs that the agent made in one ADD.
func newResultOfAll(response *cniResponse, netns string) (*types100.Result, error) {
	if len(response.NICs) == 0 {
		return newResult(response, netns)
	}
	merged := &types100.Result{CNIVersion: types100.ImplementedSpecVersion}
	for i := range response.NICs {
		result, err := newResult(&response.NICs[i], netns)
		if err != nil {
			return nil, err
		}
		for _, assigned := range result.IPs {
			assigned.Interface = types100.Int(*assigned.Interface + len(merged.Interfaces))
		}
		merged.Interfaces = append(merged.Interfaces, result.Interfaces...)
		merged.IPs = append(merged.IPs, result.IPs...)
		merged.Routes = append(merged.Routes, result.Routes...)
	}
	return merged, nil
}

// fromFlatFields converts the flat form of a response to a list of addresses.
func fromFlatFields(response *cniResponse) (addresses []address) {
	cidrs, gateways := strings.Split(response.CIDR, ","), strings.Split(response.Gateway, ",")
	for i, ip := range strings.Split(response.Address, ",") {
		addresses = append(addresses, address{IP: ip, CIDR: cidrs[i%len(cidrs)], Gateway: gateways[i%len(gateways)]})
	}
	return addresses
}

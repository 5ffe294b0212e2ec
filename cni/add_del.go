package main

// CNI ADD and DEL: the request goes to the node agent, its response becomes the CNI result.

import (
	"fmt"
	"time"

	"github.com/containernetworking/cni/pkg/ns"
	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
)

func add(args *skel.CmdArgs) error {
	conf, err := parseConf(args.StdinData)
	if err != nil {
		return err
	}
	if conf.isChained() {
		return printChainedResult(conf, args)
	}
	conf, request, err := parseRequest(args)
	if err != nil {
		return err
	}
	request.Routes, request.DNS, request.VfDriver = conf.Routes, conf.DNS, conf.VfDriver // only ADD sends them
	request.TakesGateway = conf.takesGateway()
	if err := refuseOwnNamespace(args); err != nil {
		return err
	}
	status, body, err := postAdd(conf.ServerSocket, request)
	if err != nil {
		return rpcFailed("request ip: %v", err)
	}
	response, err := parseAgentResponse("request ip", status, 200, body)
	if err != nil {
		return err
	}
	result, err := newResultOfAll(response, args.Netns)
	if err != nil {
		return types.NewError(types.ErrDecodingFailure, "the node agent's response makes no CNI result", err.Error())
	}
	for _, assigned := range result.IPs {
		if request.TakesGateway && assigned.Gateway == nil {
			return invalid(fmt.Sprintf("plugin %s gives the node the gateway's address, and the node agent named no gateway for %s: "+
				"upgrade the agent, or let the Pod's NIC have the default route", conf.Type, assigned.Address.IP))
		}
	}
	return types.PrintResult(result, conf.CNIVersion)
}

// refuseOwnNamespace returns an error if the sandbox is the plugin's own network namespace. skel checks this only after the
// result is printed, when the address is bound.
func refuseOwnNamespace(args *skel.CmdArgs) error {
	if own, _ := ns.CheckNetNS(args.Netns); own && args.NetnsOverride == "" {
		return types.NewError(types.ErrInvalidNetNS, "CNI_NETNS is the plugin's own network namespace", args.Netns)
	}
	return nil
}

// del succeeds without an agent, so that the Pod can be deleted. It saves the request, and the agent replays it later. A
// request for a socket that no agent may serve is not saved.
func del(args *skel.CmdArgs) error {
	if chained, err := isChainedNoOp(args); chained || err != nil {
		return err
	}
	conf, request, err := parseRequest(args)
	if err != nil {
		return err
	}
	status, body, err := postJSON(conf.ServerSocket, "/api/v1/del", request, limits{shortWait, 10 * time.Second})
	if isUntrusted(err) || (err != nil && !mayAppearLater(conf.ServerSocket)) {
		return nil
	}
	if err != nil {
		return savePendingDel(request, conf.ServerSocket, err)
	}
	if status != 204 {
		return rpcFailed("delete ip return %d %s", status, body)
	}
	return nil
}

package main

import (
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
		return correct(conf, args)
	}
	conf, request, err := load(args)
	if err != nil {
		return err
	}
	request.Routes, request.DNS, request.VfDriver = conf.Routes, conf.DNS, conf.VfDriver // nobody else sends them
	if err := refuseOwnNamespace(args); err != nil {
		return err
	}
	// The agent itself gives up on an ADD after 20 s, on a DEL after 4 s, and says why.
	status, body, err := post(conf.ServerSocket, "/api/v1/add", request, 30*time.Second)
	if err != nil {
		return rpcFailed("request ip: %v", err)
	}
	response, err := understand("request ip", status, 200, body)
	if err != nil {
		return err
	}
	result, err := newResult(response, args.Netns)
	if err != nil {
		return types.NewError(types.ErrDecodingFailure, "the node agent's answer makes no CNI result", err.Error())
	}
	return types.PrintResult(result, conf.CNIVersion)
}

// refuseOwnNamespace returns an error when the sandbox is the plugin's own network namespace. skel checks this after the
// result was printed: too late, the address would be bound by then.
func refuseOwnNamespace(args *skel.CmdArgs) error {
	if own, _ := ns.CheckNetNS(args.Netns); own && args.NetnsOverride == "" {
		return types.NewError(types.ErrInvalidNetNS, "CNI_NETNS is the plugin's own network namespace", args.Netns)
	}
	return nil
}

// del takes no agent for no error, because a Pod must be able to go: it then leaves the request to be replayed. A socket that
// no agent has is nothing to wait for.
func del(args *skel.CmdArgs) error {
	if idle, err := isIdle(args); idle || err != nil {
		return err
	}
	conf, request, err := load(args)
	if err != nil {
		return err
	}
	status, body, err := post(conf.ServerSocket, "/api/v1/del", request, 10*time.Second)
	if isUntrusted(err) || (err != nil && !mayCome(conf.ServerSocket)) {
		return nil
	}
	if err != nil {
		return leave(request, conf.ServerSocket, err)
	}
	if status != 204 {
		return rpcFailed("delete ip return %d %s", status, body)
	}
	return nil
}

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/containernetworking/cni/pkg/ns"
	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
)

func add(args *skel.CmdArgs) error {
	conf, request, err := load(args)
	if err != nil {
		return err
	}
	request.Routes, request.DNS, request.VfDriver = conf.Routes, conf.DNS, conf.VfDriver // nobody else sends them
	// skel looks at this after the result was printed: too late, the address would be bound by then.
	if own, _ := ns.CheckNetNS(args.Netns); own && args.NetnsOverride == "" {
		return types.NewError(types.ErrInvalidNetNS, "CNI_NETNS is the plugin's own network namespace", args.Netns)
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

// del takes no agent for no error, because a Pod must be able to go: it then leaves the request to be replayed.
func del(args *skel.CmdArgs) error {
	conf, request, err := load(args)
	if err != nil {
		return err
	}
	status, body, err := post(conf.ServerSocket, "/api/v1/del", request, 10*time.Second)
	if err != nil {
		return leave(request, conf.origin, err)
	}
	if status != 204 {
		return rpcFailed("delete ip return %d %s", status, body)
	}
	return nil
}

// leave writes a DEL into the journal, for the agent of its socket. A repeated DEL replaces its own file.
func leave(request *cniRequest, to origin, cause error) error {
	journal := cmp.Or(to.Journal, "/var/lib/cni/ipledger")
	path := filepath.Join(journal, request.ContainerID+"@"+request.IfName+".json")
	draft := fmt.Sprintf("%s.%d", path, os.Getpid()) // the agent passes over what does not end in .json
	entry, _ := json.Marshal(map[string]any{"server_socket": to.ServerSocket, "request": request})
	err := os.MkdirAll(journal, 0o700)
	if err == nil {
		err = os.WriteFile(draft, entry, 0o600)
	}
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		os.Remove(draft)
		return rpcFailed("delete ip: %v; it cannot be left in %s either: %v", cause, journal, err)
	}
	return nil
}

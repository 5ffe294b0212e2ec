package main

// CNI CHECK, GC and STATUS. Kube-OVN's daemon and older agents have no such paths: a 404 response succeeds, as in
// Kube-OVN's plugin.

import (
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
)

type checkRequest struct {
	*cniRequest
	Addresses []string `json:"addresses"` // of prevResult, "address/length"
}

type gcRequest struct {
	CniType     string       `json:"cni_type"`
	Provider    string       `json:"provider"`
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	ContainerID string `json:"container_id"`
	IfName      string `json:"if_name"`
}

type statusRequest struct {
	CniType  string `json:"cni_type"`
	Provider string `json:"provider"`
}

func check(args *skel.CmdArgs) error {
	conf, err := parseConf(args.StdinData)
	if err != nil {
		return err
	}
	if conf.isChained() && conf.ServerSocket == "" {
		return checkChainedMac(conf, args)
	}
	conf, request, err := parseRequest(args)
	if err != nil {
		return err
	}
	if conf.Type == "kube-ovn" && conf.PrevResult != nil { // the agent made the link
		if err := checkChainedMac(conf, args); err != nil {
			return err
		}
	}
	var result struct {
		PrevResult *struct {
			IPs []struct{ Address types.IPNet }
		} `json:"prevResult"`
	}
	if err := json.Unmarshal(args.StdinData, &result); err != nil {
		return types.NewError(types.ErrDecodingFailure, "failed to load prevResult", err.Error())
	}
	if result.PrevResult == nil {
		return invalid("prevResult is required for CHECK: the result of the ADD")
	}
	addresses := []string{}
	for _, ip := range result.PrevResult.IPs {
		addresses = append(addresses, (*net.IPNet)(&ip.Address).String())
	}
	return callAgent(conf, "check", checkRequest{request, addresses}, 10*time.Second)
}

// gc sends the list of valid attachments. A missing list is an error, because an empty list would end every binding.
func gc(args *skel.CmdArgs) error {
	if chained, err := isChainedNoOp(args); chained || err != nil {
		return err
	}
	conf, err := parseAgentConf(args.StdinData)
	if err != nil {
		return err
	}
	var valid struct {
		Attachments *[]types.GCAttachment `json:"cni.dev/valid-attachments"`
	}
	if err := json.Unmarshal(args.StdinData, &valid); err != nil {
		return types.NewError(types.ErrDecodingFailure, "failed to load cni.dev/valid-attachments", err.Error())
	}
	if valid.Attachments == nil {
		return invalid("cni.dev/valid-attachments is required for GC: the list of valid attachments, which may be empty")
	}
	request := gcRequest{CniType: conf.Type, Provider: conf.Provider, Attachments: []attachment{}}
	for _, each := range *valid.Attachments {
		request.Attachments = append(request.Attachments, attachment{each.ContainerID, each.IfName})
	}
	return callAgent(conf, "gc", request, 30*time.Second)
}

// status fails only if the agent or the allocator is unavailable, because runtimes then report the node as NotReady.
func status(args *skel.CmdArgs) error {
	if chained, err := isChainedNoOp(args); chained || err != nil {
		return err
	}
	conf, err := parseAgentConf(args.StdinData)
	if err != nil {
		return err
	}
	err = callAgent(conf, "status", statusRequest{conf.Type, conf.Provider}, 10*time.Second)
	if cause := (*types.Error)(nil); errors.As(err, &cause) {
		return types.NewError(types.ErrPluginNotAvailable, "ipledger is not available", cmp.Or(cause.Details, cause.Msg))
	}
	return err
}

// callAgent sends a request whose response has no body.
func callAgent(conf *netConf, verb string, request any, timeout time.Duration) error {
	status, body, err := postJSON(conf.ServerSocket, "/api/v1/"+verb, request, limits{shortWait, timeout})
	if err != nil {
		return rpcFailed("%s: %v", verb, err)
	}
	if status == 404 {
		return nil
	}
	_, err = parseAgentResponse(verb, status, 204, body)
	return err
}

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
)

// What a runtime asks beside ADD and DEL. Kube-OVN's own daemon has no such paths, nor has an agent older than this
// plugin: their 404 means that there is nothing to do, and it succeeds as in Kube-OVN's plugin.

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
	if conf.isChained() {
		return compare(conf, args)
	}
	conf, request, err := load(args)
	if err != nil {
		return err
	}
	var past struct {
		PrevResult *struct {
			IPs []struct{ Address types.IPNet }
		} `json:"prevResult"`
	}
	if err := json.Unmarshal(args.StdinData, &past); err != nil {
		return types.NewError(types.ErrDecodingFailure, "failed to load prevResult", err.Error())
	}
	if past.PrevResult == nil {
		return invalid("prevResult is required for CHECK: the result of the ADD")
	}
	addresses := []string{}
	for _, ip := range past.PrevResult.IPs {
		addresses = append(addresses, (*net.IPNet)(&ip.Address).String())
	}
	return tend(conf, "check", checkRequest{request, addresses}, 10*time.Second)
}

// gc names what is still valid. A list that is missing is no empty one, by which everything would go.
func gc(args *skel.CmdArgs) error {
	if idle, err := isIdle(args); idle || err != nil {
		return err
	}
	conf, err := loadConf(args.StdinData)
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
		return invalid("cni.dev/valid-attachments is required for GC: the list of what is still attached, which may be empty")
	}
	request := gcRequest{CniType: conf.Type, Provider: conf.Provider, Attachments: []attachment{}}
	for _, still := range *valid.Attachments {
		request.Attachments = append(request.Attachments, attachment{still.ContainerID, still.IfName})
	}
	return tend(conf, "gc", request, 30*time.Second)
}

// status fails only when agent or allocator can't answer: runtimes make the whole node NotReady of it.
func status(args *skel.CmdArgs) error {
	if idle, err := isIdle(args); idle || err != nil {
		return err
	}
	conf, err := loadConf(args.StdinData)
	if err != nil {
		return err
	}
	err = tend(conf, "status", statusRequest{conf.Type, conf.Provider}, 10*time.Second)
	if said := (*types.Error)(nil); errors.As(err, &said) {
		return types.NewError(types.ErrPluginNotAvailable, "ipledger is not available", cmp.Or(said.Details, said.Msg))
	}
	return err
}

// tend does one of them; each succeeds without an answer.
func tend(conf *netConf, verb string, request any, timeout time.Duration) error {
	status, body, err := post(conf.ServerSocket, "/api/v1/"+verb, request, timeout)
	if err != nil {
		return rpcFailed("%s: %v", verb, err)
	}
	if status == 404 {
		return nil
	}
	_, err = understand(verb, status, 204, body)
	return err
}

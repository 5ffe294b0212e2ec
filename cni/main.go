// Command kube-ovn is a CNI IPAM plugin: it hands each request to the node agent on a unix socket and prints the agent's
// answer as a CNI result. It decides nothing itself. Its name, configuration, errors and wire format are those of
// Kube-OVN's plugin, so that existing NetworkAttachmentDefinitions work unchanged.
package main

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/containernetworking/cni/pkg/ns"
	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"
)

// origin says whom to ask, and for what. It stands in `ipam`, or at the top where the plugin is no IPAM plugin.
type origin struct {
	ServerSocket string  `json:"server_socket"`
	Provider     string  `json:"provider"`
	Routes       []route `json:"routes"`
	Journal      string  `json:"journal"` // our own: the folder where DELs wait for an agent that is away
}

type netConf struct {
	origin
	device
	CNIVersion string    `json:"cniVersion"`
	Type       string    `json:"type"`
	DNS        types.DNS `json:"dns"`
	VfDriver   string    `json:"vf_driver"`
	IPAM       *origin   `json:"ipam"`
}

func main() {
	cniVersion := takeStdin()
	funcs := skel.CNIFuncs{Add: add, Del: del} // CHECK, STATUS and GC succeed, as Kube-OVN's do
	if err := skel.PluginMainFuncsWithError(funcs, version.All, "ipledger's kube-ovn IPAM plugin"); err != nil {
		said := map[string]any{"cniVersion": cniVersion, "code": err.Code, "msg": err.Msg, "details": err.Details}
		json.NewEncoder(os.Stdout).Encode(said)
		os.Exit(1)
	}
}

// takeStdin reads the configuration and hands it on to skel, whose own errors lack the cniVersion that the CNI
// specification wants in them: only the configuration knows it.
func takeStdin() (cniVersion string) {
	if os.Getenv("CNI_COMMAND") == "" {
		return "" // somebody at a terminal
	}
	config, _ := io.ReadAll(io.LimitReader(os.Stdin, 4<<20))
	reader, writer, _ := os.Pipe() // nil if it fails; skel then reports an I/O failure
	go func() { writer.Write(config); writer.Close() }()
	os.Stdin = reader
	conf := netConf{}
	json.Unmarshal(config, &conf)
	if named := cmp.Or(conf.CNIVersion, "0.1.0"); slices.Contains(version.All.SupportedVersions(), named) {
		return named
	}
	return version.Current()
}

func add(args *skel.CmdArgs) error {
	conf, request, err := load(args)
	if err != nil {
		return err
	}
	request.Routes, request.DNS, request.VfDriver = conf.Routes, conf.DNS, conf.VfDriver // DEL goes without
	// skel looks at this after the result was printed: too late, the address would be bound by then.
	if own, _ := ns.CheckNetNS(args.Netns); own && args.NetnsOverride == "" {
		return types.NewError(types.ErrInvalidNetNS, "CNI_NETNS is the plugin's own network namespace", args.Netns)
	}
	// The agent itself gives up on an ADD after 20 s, on a DEL after 4 s, and says why.
	status, body, err := post(conf.ServerSocket, "/api/v1/add", request, 30*time.Second)
	if err != nil {
		return rpcFailed("request ip: %v", err)
	}
	response := &cniResponse{Error: string(body)} // shown as it is, if it is no JSON
	err = json.Unmarshal(body, response)
	if response.CNICode >= 100 {
		return types.NewError(response.CNICode, response.Error, "")
	}
	if err != nil || status != 200 {
		return rpcFailed("request ip return %d %s", status, response.Error)
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

// load reads configuration and CNI_ARGS into what ADD and DEL both send.
func load(args *skel.CmdArgs) (*netConf, *cniRequest, error) {
	conf, values := &netConf{}, map[string]string{}
	if err := json.Unmarshal(args.StdinData, conf); err != nil {
		return nil, nil, types.NewError(types.ErrDecodingFailure, "failed to load netconf", err.Error())
	}
	if conf.Type != "kube-ovn" && conf.IPAM != nil {
		conf.origin = *conf.IPAM
	}
	for pair := range strings.SplitSeq(args.Args, ";") {
		key, value, _ := strings.Cut(pair, "=")
		values[key] = value
	}
	for _, required := range []struct{ value, missing string }{
		{conf.ServerSocket, "server_socket is required in cni.conf: the path of the node agent's socket"},
		{args.Args, "CNI_ARGS is required"},
		{values["K8S_POD_NAME"], "K8S_POD_NAME is required in CNI_ARGS"},
		{values["K8S_POD_NAMESPACE"], "K8S_POD_NAMESPACE is required in CNI_ARGS"},
	} {
		if required.value == "" {
			return nil, nil, types.NewError(types.ErrInvalidNetworkConfig, "Invalid Configuration", required.missing)
		}
	}
	return conf, &cniRequest{
		CniType: conf.Type, Provider: cmp.Or(conf.Provider, "ovn"), device: conf.device,
		PodName: values["K8S_POD_NAME"], PodNamespace: values["K8S_POD_NAMESPACE"], PodUID: values["K8S_POD_UID"],
		ContainerID: args.ContainerID, NetNs: args.Netns, IfName: args.IfName,
	}, nil
}

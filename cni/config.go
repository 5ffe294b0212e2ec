package main

// The network configuration on stdin, and CNI_ARGS.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
)

// agentTarget names the agent's socket and the provider. It is in `ipam`, or at the top if kube-ovn is the main plugin.
type agentTarget struct {
	ServerSocket string  `json:"server_socket"`
	Provider     string  `json:"provider"`
	Routes       []route `json:"routes"`
}

type netConf struct {
	agentTarget
	device
	CNIVersion string `json:"cniVersion"`
	Type       string `json:"type"`
	NfnNetwork string `json:"nfn-network"` // the network of an OVN4NFV request that this configuration is for
	// IsGateway and IsDefaultGateway are options of the plugin `bridge`; a value that is not true counts as false.
	IsGateway        any          `json:"isGateway"`
	IsDefaultGateway any          `json:"isDefaultGateway"`
	DNS              types.DNS    `json:"dns"`
	VfDriver         string       `json:"vf_driver"`
	IPAM             *agentTarget `json:"ipam"`
	// PrevResult is nil for the first plugin of a list, except at CHECK and DEL.
	PrevResult *json.RawMessage `json:"prevResult"`
}

// takesGateway reports whether the plugin that makes the NIC gives its end on the node the gateway's address. If the result
// names no gateway, `bridge` takes the first address of the network, which may be another Pod's, and `ptp` fails.
func (conf *netConf) takesGateway() bool {
	if conf.Type == "kube-ovn" || conf.IPAM == nil {
		return false
	}
	return conf.Type == "ptp" || conf.IsGateway == true || conf.IsDefaultGateway == true
}

// Limits of the Pod's and the container's names. The agent limits the other fields.
const (
	maxArgsBytes        = 16 << 10
	maxContainerIDBytes = 128
)

// parseConf parses a network configuration.
func parseConf(stdin []byte) (*netConf, error) {
	conf := &netConf{}
	if err := json.Unmarshal(stdin, conf); err != nil {
		return nil, types.NewError(types.ErrDecodingFailure, "failed to load netconf", err.Error())
	}
	if conf.isOvn4nfv() {
		// OVN4NFV's configurations name no agent.
		conf.ServerSocket = cmp.Or(conf.ServerSocket, defaultServerSocket)
		conf.Provider = ovn4nfvProvider
	} else if conf.Type != "kube-ovn" && conf.IPAM != nil {
		conf.agentTarget = *conf.IPAM
	}
	conf.Provider = cmp.Or(conf.Provider, "ovn")
	return conf, nil
}

// parseAgentConf parses the network configuration of a request to the agent, which needs server_socket.
func parseAgentConf(stdin []byte) (*netConf, error) {
	conf, err := parseConf(stdin)
	if err != nil {
		return nil, err
	}
	return conf, required(conf.ServerSocket, "server_socket is required in cni.conf: the path of the node agent's socket")
}

// parseRequest makes the part of a request that ADD, DEL and CHECK share. It ignores unknown CNI_ARGS even without
// IgnoreUnknown, like Kube-OVN's plugin.
func parseRequest(args *skel.CmdArgs) (*netConf, *cniRequest, error) {
	conf, err := parseAgentConf(args.StdinData)
	if err != nil {
		return nil, nil, err
	}
	if len(args.Args) > maxArgsBytes {
		return nil, nil, tooLong("CNI_ARGS", len(args.Args), maxArgsBytes)
	}
	if len(args.ContainerID) > maxContainerIDBytes {
		return nil, nil, tooLong("CNI_CONTAINERID", len(args.ContainerID), maxContainerIDBytes)
	}
	values := map[string]string{}
	for pair := range strings.SplitSeq(args.Args, ";") {
		key, value, _ := strings.Cut(pair, "=")
		values[key] = value
	}
	err = cmp.Or(
		required(args.Args, "CNI_ARGS is required"),
		required(values["K8S_POD_NAME"], "K8S_POD_NAME is required in CNI_ARGS"),
		required(values["K8S_POD_NAMESPACE"], "K8S_POD_NAMESPACE is required in CNI_ARGS"),
	)
	return conf, &cniRequest{
		delRequest: delRequest{
			CniType: conf.Type, PodName: values["K8S_POD_NAME"], PodNamespace: values["K8S_POD_NAMESPACE"],
			ContainerID: args.ContainerID, NetNs: args.Netns, IfName: args.IfName, Provider: conf.Provider,
		},
		device: conf.device, PodUID: values["K8S_POD_UID"], NfnNetwork: conf.NfnNetwork,
	}, err
}

// ovn4nfvProvider is the provider of all NICs of OVN4NFV requests (lib/kubernetes/served-network.ts).
const ovn4nfvProvider = "ovn4nfv.kube-system.ovn"

// defaultServerSocket is the path that the node agent serves by default.
const defaultServerSocket = "/run/openvswitch/kube-ovn-daemon.sock"

// isOvn4nfv reports whether the configuration is for all NICs that the Pod requests by annotation, in the way of OVN4NFV.
func (conf *netConf) isOvn4nfv() bool {
	return conf.Type == "ovn4nfvk8s-cni" || conf.Type == "ovn-k8s-cni-overlay"
}

func required(value, message string) error {
	if value == "" {
		return invalid(message)
	}
	return nil
}

func tooLong(variable string, length, limit int) error {
	return types.NewError(types.ErrInvalidEnvironmentVariables,
		fmt.Sprintf("%s has %d bytes; the limit is %d", variable, length, limit), "")
}

func invalid(why string) error {
	return types.NewError(types.ErrInvalidNetworkConfig, "Invalid Configuration", why)
}

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
)

// origin says whom to ask, and for what. It stands in `ipam`, or at the top where the plugin is no IPAM plugin.
type origin struct {
	ServerSocket string  `json:"server_socket"`
	Provider     string  `json:"provider"`
	Routes       []route `json:"routes"`
}

type netConf struct {
	origin
	device
	CNIVersion string    `json:"cniVersion"`
	Type       string    `json:"type"`
	DNS        types.DNS `json:"dns"`
	VfDriver   string    `json:"vf_driver"`
	IPAM       *origin   `json:"ipam"`
	// PrevResult is nil in the configuration of the first plugin of a list, but for CHECK and DEL.
	PrevResult *json.RawMessage `json:"prevResult"`
}

// Limits of what names a Pod and its container. The agent has limits for the rest.
const (
	mostArgs        = 16 << 10
	mostContainerID = 128
)

// parseConf reads the configuration.
func parseConf(stdin []byte) (*netConf, error) {
	conf := &netConf{}
	if err := json.Unmarshal(stdin, conf); err != nil {
		return nil, types.NewError(types.ErrDecodingFailure, "failed to load netconf", err.Error())
	}
	if conf.Type != "kube-ovn" && conf.IPAM != nil {
		conf.origin = *conf.IPAM
	}
	conf.Provider = cmp.Or(conf.Provider, "ovn")
	return conf, nil
}

// loadConf reads the configuration of a request to the agent.
func loadConf(stdin []byte) (*netConf, error) {
	conf, err := parseConf(stdin)
	if err != nil {
		return nil, err
	}
	return conf, required(conf.ServerSocket, "server_socket is required in cni.conf: the path of the node agent's socket")
}

// load reads configuration and CNI_ARGS into what every request about a container says. Of CNI_ARGS only the Pod's
// names and uid are looked at, and all else is let pass, whether IgnoreUnknown is set or not: so does Kube-OVN's plugin.
func load(args *skel.CmdArgs) (*netConf, *cniRequest, error) {
	conf, err := loadConf(args.StdinData)
	if err != nil {
		return nil, nil, err
	}
	if len(args.Args) > mostArgs {
		return nil, nil, tooLong("CNI_ARGS", len(args.Args), mostArgs)
	}
	if len(args.ContainerID) > mostContainerID {
		return nil, nil, tooLong("CNI_CONTAINERID", len(args.ContainerID), mostContainerID)
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
		CniType: conf.Type, Provider: conf.Provider, device: conf.device,
		PodName: values["K8S_POD_NAME"], PodNamespace: values["K8S_POD_NAMESPACE"], PodUID: values["K8S_POD_UID"],
		ContainerID: args.ContainerID, NetNs: args.Netns, IfName: args.IfName,
	}, err
}

func required(value, missing string) error {
	if value == "" {
		return invalid(missing)
	}
	return nil
}

func tooLong(variable string, length, most int) error {
	return types.NewError(types.ErrInvalidEnvironmentVariables,
		fmt.Sprintf("%s has %d bytes, and may have %d", variable, length, most), "")
}

func invalid(why string) error {
	return types.NewError(types.ErrInvalidNetworkConfig, "Invalid Configuration", why)
}

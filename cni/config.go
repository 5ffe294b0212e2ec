package main

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
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

// loadConf reads the configuration.
func loadConf(stdin []byte) (*netConf, error) {
	conf := &netConf{}
	if err := json.Unmarshal(stdin, conf); err != nil {
		return nil, types.NewError(types.ErrDecodingFailure, "failed to load netconf", err.Error())
	}
	if conf.Type != "kube-ovn" && conf.IPAM != nil {
		conf.origin = *conf.IPAM
	}
	conf.Provider = cmp.Or(conf.Provider, "ovn")
	return conf, required(conf.ServerSocket, "server_socket is required in cni.conf: the path of the node agent's socket")
}

// load reads configuration and CNI_ARGS into what every request about a container says. Of CNI_ARGS only the Pod's
// names and uid are looked at, and all else is let pass, whether IgnoreUnknown is set or not: so does Kube-OVN's plugin.
func load(args *skel.CmdArgs) (*netConf, *cniRequest, error) {
	conf, err := loadConf(args.StdinData)
	if err != nil {
		return nil, nil, err
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

func invalid(why string) error {
	return types.NewError(types.ErrInvalidNetworkConfig, "Invalid Configuration", why)
}

// Command kube-ovn is a CNI IPAM plugin. It sends each request to the node agent on a unix socket and prints the response as
// a CNI result. Its name, configuration, errors and wire format are those of Kube-OVN's plugin, so that existing
// NetworkAttachmentDefinitions work unchanged.
//
// Its process lives for milliseconds. So the runtime does not read the CPU limit of its cgroup, which takes 0.1 ms.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"
)

// maxConfigBytes limits the configuration. The list of a GC is its largest part.
const maxConfigBytes = 4 << 20

func main() {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		if err := probeCommand(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	command := os.Getenv("CNI_COMMAND")
	config, err := readStdin(command)
	if command == "VERSION" {
		printVersions(config)
		return
	}
	if os.Getenv("CNI_PATH") == "" && command != "GC" {
		os.Setenv("CNI_PATH", "/opt/cni/bin") // skel requires CNI_PATH, but the specification only for GC; this plugin runs no other plugin
	}
	if err == nil {
		funcs := skel.CNIFuncs{Add: add, Del: del, Check: check, GC: gc, Status: status}
		err = skel.PluginMainFuncsWithError(funcs, version.All, "ipledger's kube-ovn IPAM plugin")
	}
	if err != nil {
		addVariableName(err)
		message, details := printable(err.Msg), printable(err.Details)
		printJSON(map[string]any{"cniVersion": versionOf(config), "code": err.Code, "msg": message, "details": details})
		os.Exit(1)
	}
}

// readStdin returns the configuration, and makes it available to skel again. skel's own errors lack the cniVersion that the
// CNI specification requires: it comes from the configuration.
func readStdin(command string) (config []byte, failed *types.Error) {
	if command == "" {
		return nil, nil // started at a terminal; skel prints the usage
	}
	config, err := io.ReadAll(io.LimitReader(os.Stdin, maxConfigBytes+1))
	if err != nil {
		return nil, types.NewError(types.ErrIOFailure, "error reading from stdin", err.Error())
	}
	if len(config) > maxConfigBytes {
		why := fmt.Sprintf("the configuration on stdin is larger than %d bytes", maxConfigBytes)
		return nil, types.NewError(types.ErrInvalidNetworkConfig, "Invalid Configuration", why)
	}
	reader, writer, _ := os.Pipe() // nil if it fails; skel then reports an I/O failure
	go func() { writer.Write(config); writer.Close() }()
	os.Stdin = reader
	return config, nil
}

// versionOf returns the CNI version of a configuration, or the newest supported version if the plugin does not support it.
func versionOf(config []byte) string {
	conf := netConf{}
	json.Unmarshal(config, &conf)
	if named := cmp.Or(conf.CNIVersion, "0.1.0"); slices.Contains(version.All.SupportedVersions(), named) {
		return named
	}
	return version.Current()
}

// printVersions answers VERSION in the request's CNI version. Without one, or for a network configuration, it uses the newest
// version, like Kube-OVN's plugin.
func printVersions(config []byte) {
	conf := netConf{}
	json.Unmarshal(config, &conf)
	cniVersion := version.Current()
	if conf.CNIVersion != "" && conf.Type == "" {
		cniVersion = versionOf(config)
	}
	printJSON(map[string]any{"cniVersion": cniVersion, "supportedVersions": version.All.SupportedVersions()})
}

// addVariableName adds the name of the invalid environment variable to skel's error, as the CNI specification requires.
func addVariableName(err *types.Error) {
	for part, name := range map[string]string{"containerID": "CNI_CONTAINERID", "interface name": "CNI_IFNAME"} {
		if err.Code == types.ErrInvalidEnvironmentVariables && strings.Contains(err.Msg, part) {
			value := os.Getenv(name)
			err.Details = strings.TrimSpace(name + "=" + value + " " + strings.TrimPrefix(err.Details, value))
		}
	}
}

func printJSON(value any) { json.NewEncoder(os.Stdout).Encode(value) }

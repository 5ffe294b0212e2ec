// Command kube-ovn is a CNI IPAM plugin: it hands each request to the node agent on a unix socket and prints the agent's
// answer as a CNI result. It decides nothing itself. Its name, configuration, errors and wire format are those of
// Kube-OVN's plugin, so that existing NetworkAttachmentDefinitions work unchanged.
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

// mostConfig limits the configuration: the list of a GC is its largest part.
const mostConfig = 4 << 20

func main() {
	command := os.Getenv("CNI_COMMAND")
	config, err := takeStdin(command)
	if command == "VERSION" {
		sayVersions(config)
		return
	}
	if os.Getenv("CNI_PATH") == "" && command != "GC" {
		os.Setenv("CNI_PATH", "/opt/cni/bin") // optional in all but GC; skel insists on it, and we run no other plugin
	}
	if err == nil {
		funcs := skel.CNIFuncs{Add: add, Del: del, Check: check, GC: gc, Status: status}
		err = skel.PluginMainFuncsWithError(funcs, version.All, "ipledger's kube-ovn IPAM plugin")
	}
	if err != nil {
		nameVariable(err)
		say(map[string]any{"cniVersion": versionOf(config), "code": err.Code, "msg": err.Msg, "details": err.Details})
		os.Exit(1)
	}
}

// takeStdin reads the configuration and hands it on to skel, whose own errors lack the cniVersion that the CNI
// specification wants in them: only the configuration knows it.
func takeStdin(command string) (config []byte, failed *types.Error) {
	if command == "" {
		return nil, nil // somebody at a terminal
	}
	config, err := io.ReadAll(io.LimitReader(os.Stdin, mostConfig+1))
	if err != nil {
		return nil, types.NewError(types.ErrIOFailure, "error reading from stdin", err.Error())
	}
	if len(config) > mostConfig {
		why := fmt.Sprintf("the configuration on stdin is larger than %d bytes", mostConfig)
		return nil, types.NewError(types.ErrInvalidNetworkConfig, "Invalid Configuration", why)
	}
	reader, writer, _ := os.Pipe() // nil if it fails; skel then reports an I/O failure
	go func() { writer.Write(config); writer.Close() }()
	os.Stdin = reader
	return config, nil
}

// versionOf is the version of the specification that a configuration is in, or ours where that is none that we speak.
func versionOf(config []byte) string {
	asked := netConf{}
	json.Unmarshal(config, &asked)
	if named := cmp.Or(asked.CNIVersion, "0.1.0"); slices.Contains(version.All.SupportedVersions(), named) {
		return named
	}
	return version.Current()
}

// sayVersions answers in the version that was asked in; where none was, or a whole configuration came instead of a
// question, in the newest, as Kube-OVN's plugin does.
func sayVersions(config []byte) {
	asked := netConf{}
	json.Unmarshal(config, &asked)
	spoken := version.Current()
	if asked.CNIVersion != "" && asked.Type == "" {
		spoken = versionOf(config)
	}
	say(map[string]any{"cniVersion": spoken, "supportedVersions": version.All.SupportedVersions()})
}

// nameVariable adds the name of the environment variable that skel found invalid, which the specification wants to be told.
func nameVariable(err *types.Error) {
	for part, name := range map[string]string{"containerID": "CNI_CONTAINERID", "interface name": "CNI_IFNAME"} {
		if err.Code == types.ErrInvalidEnvironmentVariables && strings.Contains(err.Msg, part) {
			value := os.Getenv(name)
			err.Details = strings.TrimSpace(name + "=" + value + " " + strings.TrimPrefix(err.Details, value))
		}
	}
}

func say(it any) { json.NewEncoder(os.Stdout).Encode(it) }

package main

// The chained form: `{"type": "kube-ovn"}` after the plugin that makes the NIC, in one list. That plugin reads the link's
// MAC before the agent sets the MAC that the Pod requests. The chained plugin puts the link's MAC into the result, so that
// runtime, Multus and CHECK agree with the link.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"runtime"
	"strings"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/version"
	"github.com/vishvananda/netns"
)

// checkFailed is the CNI error code of a CHECK that finds a difference. The agent uses the same code.
const checkFailed = 101

// isChained reports whether an ADD or a CHECK is for the chained form. The plugin that makes the NIC gets no prevResult at ADD.
func (conf *netConf) isChained() bool {
	return conf.Type == "kube-ovn" && conf.IPAM == nil && conf.PrevResult != nil
}

// isChainedNoOp reports whether a DEL, GC or STATUS is for the chained form, which names no agent and keeps no state.
func isChainedNoOp(args *skel.CmdArgs) (bool, error) {
	conf, err := parseConf(args.StdinData)
	return err == nil && conf.Type == "kube-ovn" && conf.IPAM == nil && conf.ServerSocket == "", err
}

// printChainedResult prints prevResult with the MAC of the link.
func printChainedResult(conf *netConf, args *skel.CmdArgs) error {
	if err := refuseOwnNamespace(args); err != nil {
		return err
	}
	result, nic, err := findNic(conf, args)
	if err != nil {
		return err
	}
	if nic != nil {
		mac, err := readMac(args)
		if err != nil {
			return invalid(fmt.Sprintf("%v: place a kube-ovn without ipam after the plugin that makes the link", err))
		}
		nic.Mac = cmp.Or(mac, nic.Mac)
	}
	return types.PrintResult(result, conf.CNIVersion)
}

// checkChainedMac does CHECK: prevResult must have the link's MAC.
func checkChainedMac(conf *netConf, args *skel.CmdArgs) error {
	_, nic, err := findNic(conf, args)
	if err != nil || nic == nil {
		return err
	}
	mac, err := readMac(args)
	if err != nil {
		return types.NewError(checkFailed, err.Error(), "")
	}
	if mac != "" && !strings.EqualFold(mac, nic.Mac) {
		why := fmt.Sprintf("link %s has MAC %s, and prevResult has %s", args.IfName, mac, nic.Mac)
		return types.NewError(checkFailed, why, "")
	}
	return nil
}

// findNic returns prevResult and the NIC of this call in it; the NIC is nil if the result's CNI version has no interfaces.
func findNic(conf *netConf, args *skel.CmdArgs) (*types100.Result, *types100.Interface, error) {
	pluginConf := &types.PluginConf{CNIVersion: cmp.Or(conf.CNIVersion, "0.1.0")}
	err := json.Unmarshal(*conf.PrevResult, &pluginConf.RawPrevResult)
	if err == nil {
		err = version.ParsePrevResult(pluginConf)
	}
	if err != nil {
		return nil, nil, types.NewError(types.ErrDecodingFailure, "failed to load prevResult", err.Error())
	}
	result, err := types100.NewResultFromResult(pluginConf.PrevResult)
	if err != nil {
		return nil, nil, types.NewError(types.ErrDecodingFailure, "failed to load prevResult", err.Error())
	}
	for _, nic := range result.Interfaces {
		if nic.Name == args.IfName && nic.Sandbox != "" {
			return result, nic, nil
		}
	}
	if len(result.Interfaces) > 0 {
		return nil, nil, invalid(fmt.Sprintf("prevResult has no interface %s in the sandbox", args.IfName))
	}
	return result, nil, nil
}

// readMac returns the MAC of the sandbox's link; "" if the link has none.
func readMac(args *skel.CmdArgs) (string, error) {
	var mac string
	err := inNamespace(args.Netns, func() error {
		link, err := net.InterfaceByName(args.IfName)
		if err == nil {
			mac = link.HardwareAddr.String()
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("there is no link %s in %s (%v)", args.IfName, args.Netns, err)
	}
	return mac, nil
}

// inNamespace runs work in the network namespace at path, in a thread that ends with it.
func inNamespace(path string, work func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so that the thread ends: it stays in the other namespace
		namespace, err := netns.GetFromPath(path)
		if err == nil {
			defer namespace.Close()
			err = netns.Set(namespace)
		}
		if err == nil {
			err = work()
		}
		done <- err
	}()
	return <-done
}

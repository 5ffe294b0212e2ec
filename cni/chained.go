package main

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

// The chained form: `{"type": "kube-ovn"}` behind the plugin that makes the NIC, in one list. That plugin reads the link's
// MAC before it asks for the address, and so before the agent sets the MAC that the Pod asks for. The chained plugin puts the
// link's MAC into the result; then the runtime, Multus and CHECK agree with the link.

// checkFailed is the code of a CHECK that found a difference; the agent uses the same.
const checkFailed = 101

// isChained reports whether an ADD or a CHECK is for the chained form. As the plugin that makes the NIC it has no result yet
// at ADD.
func (conf *netConf) isChained() bool {
	return conf.Type == "kube-ovn" && conf.IPAM == nil && conf.PrevResult != nil
}

// isIdle reports whether a DEL, GC or STATUS is for the chained form: it names no agent, and has nothing to end or to ask.
func isIdle(args *skel.CmdArgs) (bool, error) {
	conf, err := parseConf(args.StdinData)
	return err == nil && conf.Type == "kube-ovn" && conf.IPAM == nil && conf.ServerSocket == "", err
}

// correct prints the result of the plugins before, with the MAC that the link has.
func correct(conf *netConf, args *skel.CmdArgs) error {
	if err := refuseOwnNamespace(args); err != nil {
		return err
	}
	result, nic, err := nicOf(conf, args)
	if err != nil {
		return err
	}
	if nic != nil {
		mac, err := macOf(args)
		if err != nil {
			return invalid(fmt.Sprintf("%v: a kube-ovn without ipam stands behind the plugin that makes that link", err))
		}
		nic.Mac = cmp.Or(mac, nic.Mac)
	}
	return types.PrintResult(result, conf.CNIVersion)
}

// compare does CHECK: the runtime's result must have the link's MAC.
func compare(conf *netConf, args *skel.CmdArgs) error {
	_, nic, err := nicOf(conf, args)
	if err != nil || nic == nil {
		return err
	}
	mac, err := macOf(args)
	if err != nil {
		return types.NewError(checkFailed, err.Error(), "")
	}
	if mac != "" && !strings.EqualFold(mac, nic.Mac) {
		why := fmt.Sprintf("link %s has MAC %s, and prevResult has %s", args.IfName, mac, nic.Mac)
		return types.NewError(checkFailed, why, "")
	}
	return nil
}

// nicOf reads prevResult, and finds the NIC in it that this call is about; nil where the result's version has no interfaces.
func nicOf(conf *netConf, args *skel.CmdArgs) (*types100.Result, *types100.Interface, error) {
	past := &types.PluginConf{CNIVersion: cmp.Or(conf.CNIVersion, "0.1.0")}
	err := json.Unmarshal(*conf.PrevResult, &past.RawPrevResult)
	if err == nil {
		err = version.ParsePrevResult(past)
	}
	if err != nil {
		return nil, nil, types.NewError(types.ErrDecodingFailure, "failed to load prevResult", err.Error())
	}
	result, err := types100.NewResultFromResult(past.PrevResult)
	if err != nil {
		return nil, nil, types.NewError(types.ErrDecodingFailure, "failed to load prevResult", err.Error())
	}
	for _, each := range result.Interfaces {
		if each.Name == args.IfName && each.Sandbox != "" {
			return result, each, nil
		}
	}
	if len(result.Interfaces) > 0 {
		return nil, nil, invalid(fmt.Sprintf("prevResult has no interface %s in the sandbox", args.IfName))
	}
	return result, nil, nil
}

// macOf reads the MAC of the sandbox's link; "" for a link that has none.
func macOf(args *skel.CmdArgs) (string, error) {
	var mac string
	err := inside(args.Netns, func() error {
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

// inside runs work in a network namespace, in a thread that ends with it.
func inside(path string, work func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is in another namespace
		there, err := netns.GetFromPath(path)
		if err == nil {
			defer there.Close()
			err = netns.Set(there)
		}
		if err == nil {
			err = work()
		}
		done <- err
	}()
	return <-done
}

// Command attach-networks is a CNI plugin for tests, which does the part of Multus that ipledger depends on. It makes the main
// NIC of a Pod, and one NIC for each network that the annotation k8s.v1.cni.cncf.io/networks names, in the order of Multus' calls.
// It reads Pods and NetworkAttachmentDefinitions with kubectl.
//
// The configuration has "kubectl" and "kubeconfig" (paths), and "main", the configuration list of eth0. The annotation
// v1.multus-cni.io/default-network names another network for eth0. "defaultNetworks" names networks that each Pod of a namespace gets.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"
)

// stateFolder has one file for each sandbox, with its attachments in the order of their creation.
const stateFolder = "/var/lib/cni/attach-networks"

type conf struct {
	types.NetConf
	Kubectl         string            `json:"kubectl"`
	Kubeconfig      string            `json:"kubeconfig"`
	Main            json.RawMessage   `json:"main"`
	DefaultNetworks map[string]string `json:"defaultNetworks"`
}

// attachment is one NIC of a sandbox.
type attachment struct {
	Interface string          `json:"interface"`
	List      json.RawMessage `json:"list"`
}

type selection struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Interface string `json:"interface"`
}

func main() {
	funcs := skel.CNIFuncs{Add: add, Del: del, Check: func(*skel.CmdArgs) error { return nil }}
	skel.PluginMainFuncs(funcs, version.All, "attach-networks: networks of a Pod's annotation")
}

func add(args *skel.CmdArgs) error {
	conf, pod, err := parse(args)
	if err != nil {
		return err
	}
	wanted, err := conf.attachments(pod, args.IfName)
	if err != nil {
		return err
	}
	// Before the first NIC: a DEL removes also what a failed ADD left.
	if err := saveState(args.ContainerID, wanted); err != nil {
		return err
	}
	var first types.Result
	for i, each := range wanted {
		list, err := libcni.NetworkConfFromBytes(each.List)
		if err != nil {
			return fmt.Errorf("network of %s: %w", each.Interface, err)
		}
		result, err := library().AddNetworkList(context.Background(), list, runtimeOf(args, pod, each.Interface))
		if err != nil {
			// Like Multus: deletes the attachments so far, the failed attachment first, and reports only the cause.
			_ = delFrom(wanted[:i+1], args, pod)
			return fmt.Errorf("network %s on %s: %w", list.Name, each.Interface, err)
		}
		if first == nil {
			first = result
		}
	}
	return types.PrintResult(first, conf.CNIVersion)
}

func del(args *skel.CmdArgs) error {
	_, pod, err := parse(args)
	if err != nil {
		return err
	}
	wanted, err := loadState(args.ContainerID)
	if err != nil {
		return err
	}
	if err := delFrom(wanted, args, pod); err != nil {
		return err
	}
	return os.RemoveAll(stateFile(args.ContainerID))
}

// delFrom deletes attachments from the last to the first. It continues after an error, and returns the first one.
func delFrom(all []attachment, args *skel.CmdArgs, pod map[string]string) (first error) {
	for i := len(all) - 1; i >= 0; i-- {
		list, err := libcni.NetworkConfFromBytes(all[i].List)
		if err == nil {
			err = library().DelNetworkList(context.Background(), list, runtimeOf(args, pod, all[i].Interface))
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func parse(args *skel.CmdArgs) (*conf, map[string]string, error) {
	conf := &conf{}
	if err := json.Unmarshal(args.StdinData, conf); err != nil {
		return nil, nil, err
	}
	pod := map[string]string{}
	for pair := range strings.SplitSeq(args.Args, ";") {
		key, value, _ := strings.Cut(pair, "=")
		pod[key] = value
	}
	return conf, pod, nil
}

// attachments returns the NICs of a Pod, eth0 first.
func (conf *conf) attachments(pod map[string]string, main string) ([]attachment, error) {
	namespace := pod["K8S_POD_NAMESPACE"]
	annotations, err := conf.get(".metadata.annotations", "pod", pod["K8S_POD_NAME"], namespace)
	if err != nil {
		return nil, err
	}
	requested := map[string]string{}
	if len(annotations) > 0 {
		if err := json.Unmarshal(annotations, &requested); err != nil {
			return nil, err
		}
	}
	first := attachment{Interface: main, List: conf.Main}
	if name := requested["v1.multus-cni.io/default-network"]; name != "" {
		if first, err = conf.attachment(parseName(name, namespace), main); err != nil {
			return nil, err
		}
	}
	all := []attachment{first}
	selections, err := parseSelections(requested["k8s.v1.cni.cncf.io/networks"], namespace)
	if err != nil {
		return nil, err
	}
	if name := conf.DefaultNetworks[namespace]; name != "" {
		selections = append(selections, parseName(name, namespace))
	}
	for i, each := range selections {
		next, err := conf.attachment(each, cmp.Or(each.Interface, fmt.Sprintf("net%d", i+1)))
		if err != nil {
			return nil, err
		}
		all = append(all, next)
	}
	return all, nil
}

// parseSelections reads both forms of the annotation: a list of names, and JSON.
func parseSelections(text, namespace string) (all []selection, err error) {
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			return nil, err
		}
		for i := range all {
			all[i].Namespace = cmp.Or(all[i].Namespace, namespace)
		}
		return all, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, parseName(name, namespace))
		}
	}
	return all, nil
}

// parseName reads [namespace/]name[@interface].
func parseName(text, namespace string) selection {
	name, nic, _ := strings.Cut(text, "@")
	if before, after, found := strings.Cut(name, "/"); found {
		namespace, name = before, after
	}
	return selection{Name: name, Namespace: namespace, Interface: nic}
}

// attachment reads the network configuration of a NetworkAttachmentDefinition, and makes a list of a single plugin.
func (conf *conf) attachment(wanted selection, nic string) (attachment, error) {
	text, err := conf.get(".spec.config", "network-attachment-definition", wanted.Name, wanted.Namespace)
	if err != nil {
		return attachment{}, err
	}
	config := map[string]any{}
	if err := json.Unmarshal(text, &config); err != nil {
		return attachment{}, fmt.Errorf("network-attachment-definition %s/%s: %w", wanted.Namespace, wanted.Name, err)
	}
	if config["plugins"] == nil {
		config = map[string]any{"cniVersion": config["cniVersion"], "plugins": []any{config}}
	}
	if config["name"] == nil {
		config["name"] = wanted.Name
	}
	list, err := json.Marshal(config)
	return attachment{Interface: nic, List: list}, err
}

func (conf *conf) get(path, kind, name, namespace string) ([]byte, error) {
	command := exec.Command(conf.Kubectl, "--kubeconfig", conf.Kubeconfig, "-n", namespace, "get", kind, name, "-o", "jsonpath={"+path+"}")
	out, err := command.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		return nil, fmt.Errorf("kubectl get %s %s/%s: %s", kind, namespace, name, exit.Stderr)
	}
	return out, err
}

func library() *libcni.CNIConfig {
	return libcni.NewCNIConfigWithCacheDir(filepath.SplitList(os.Getenv("CNI_PATH")), stateFolder+"/cache", nil)
}

func runtimeOf(args *skel.CmdArgs, pod map[string]string, nic string) *libcni.RuntimeConf {
	runtime := &libcni.RuntimeConf{ContainerID: args.ContainerID, NetNS: args.Netns, IfName: nic}
	for key, value := range pod {
		runtime.Args = append(runtime.Args, [2]string{key, value})
	}
	return runtime
}

func stateFile(container string) string { return filepath.Join(stateFolder, container+".json") }

func saveState(container string, wanted []attachment) error {
	if err := os.MkdirAll(stateFolder, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	return os.WriteFile(stateFile(container), text, 0o600)
}

// loadState returns no attachments for a sandbox that is not known.
func loadState(container string) (wanted []attachment, err error) {
	text, err := os.ReadFile(stateFile(container))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return wanted, json.Unmarshal(text, &wanted)
}

package main

// Fuzz tests of what the plugin reads: the configuration on stdin, CNI_ARGS, and the agent's response. `go test` runs their
// examples and testdata/fuzz; `make fuzz` mutates them.

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/version"
)

// failsClearly reports an error that is no CNI error with a code and a message.
func failsClearly(t *testing.T, err error) {
	t.Helper()
	failed := (*types.Error)(nil)
	if err != nil && (!errors.As(err, &failed) || failed.Code == 0 || failed.Msg == "") {
		t.Errorf("an error without code or message: %#v", err)
	}
}

func FuzzConfiguration(f *testing.F) {
	prevResult := `"prevResult":{"cniVersion":"1.0.0","interfaces":[{"name":"net1","mac":"02:00:00:00:00:01","sandbox":"/ns"}],` +
		`"ips":[{"address":"10.0.0.7/24","gateway":"10.0.0.1","interface":0}],"routes":[{"dst":"0.0.0.0/0"}]}`
	for _, config := range []string{
		macvlan("1.0.0", "/run/s", `,"routes":[{"dst":"10.0.0.0/8","gw":"10.0.0.1"}]`),
		with(macvlan("0.3.1", "/run/s", ""), prevResult),
		`{"cniVersion":"1.0.0","name":"x","type":"kube-ovn",` + prevResult + `}`,
		`{"cniVersion":"1.1.0","name":"x","type":"kube-ovn","server_socket":"/s","provider":"a.b.ovn","deviceID":"0000:01:00.0"}`,
		`{"cniVersion":"1.1.0","type":"bridge","isGateway":"yes","isDefaultGateway":true,"ipam":{"type":"kube-ovn"}}`,
		`{"type":"ovn4nfvk8s-cni","nfn-network":"a","dns":{"nameservers":["10.0.0.2"]},"cni.dev/valid-attachments":[]}`,
		`{"prevResult":null}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(config), podArgs+";K8S_POD_UID=u", "net1")
	}
	f.Fuzz(func(t *testing.T, config []byte, podArgs, ifName string) {
		versionOf(config)
		args := &skel.CmdArgs{ContainerID: "c1", Netns: "/ns", IfName: ifName, Args: podArgs, StdinData: config}
		conf, err := parseConf(config)
		failsClearly(t, err)
		if err == nil {
			conf.takesGateway()
		}
		if err == nil && conf.PrevResult != nil {
			_, nic, err := findNic(conf, args)
			failsClearly(t, err)
			if err == nil && nic != nil && nic.Name != ifName {
				t.Errorf("found NIC %q for %q", nic.Name, ifName)
			}
		}
		_, request, err := parseRequest(args)
		failsClearly(t, err)
		if err == nil && (request.PodName == "" || request.PodNamespace == "") {
			t.Error("a request without a Pod")
		}
	})
}

func FuzzAgentResponse(f *testing.F) {
	const nic = `"nicname":"net1","mac_address":"02:00:00:00:00:01","mtu":1400`
	for _, body := range []string{
		`{"ips":[{"ip":"10.0.0.7","cidr":"10.0.0.0/24","gateway":"10.0.0.1"},{"ip":"fd00::7","cidr":"fd00::/64"}],` + nic + `}`,
		`{"address":"10.0.0.7,fd00::7","cidr":"10.0.0.0/24,fd00::/64","gateway":"10.0.0.1,fd00::1",` + nic + `}`,
		`{"ips":[{"ip":"10.0.0.7","cidr":"10.0.0.0/24","node_gateway":"10.0.0.1"}],"routes":[{"dst":"10.1.0.0/16","gw":"10.0.0.1"},{"dst":""}]}`,
		`{"nics":[{` + nic + `,"host_nicname":"h"},{"ips":[{"ip":"10.0.0.7","cidr":"10.0.0.0/24"}]}]}`,
		`{"cni_code":101,"error":"differs"}`, `{"Err":"no"}`, `not JSON`, `null`, ``,
	} {
		f.Add(200, []byte(body))
		f.Add(500, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		response, err := parseAgentResponse("request ip", status, 200, body)
		failsClearly(t, err)
		if err != nil {
			if text := err.Error(); len(text) > 2*maxErrorText {
				t.Errorf("an error of %d bytes", len(text))
			}
			return
		}
		result, err := newResultOfAll(response, "/ns")
		if err != nil {
			return // add makes a CNI error of it
		}
		for _, cniVersion := range version.All.SupportedVersions() {
			converted, err := result.GetAsVersion(cniVersion)
			if err != nil {
				continue // a version before 0.3.0 holds one address of each family
			}
			if _, err := json.Marshal(converted); err != nil {
				t.Errorf("no JSON in version %s: %v", cniVersion, err)
			}
		}
		text, _ := json.Marshal(result)
		again, err := types100.NewResult(text)
		if err != nil {
			t.Fatalf("the runtime cannot read %s: %v", text, err)
		}
		if repeated, _ := json.Marshal(again); !reflect.DeepEqual(text, repeated) {
			t.Errorf("the runtime reads %s as %s", text, repeated)
		}
	})
}

func FuzzResponseHead(f *testing.F) {
	f.Add("HTTP/1.0 200 OK\r\nContent-Length: 5")
	f.Add("HTTP/1.1 204 No Content\r\ncontent-length:-1\r\nContent-Length: 99999999999999999999")
	f.Fuzz(func(t *testing.T, head string) {
		if length := contentLength([]byte(head)); length > maxResponseBytes {
			t.Errorf("waits for %d bytes", length)
		}
		printed := printable(head)
		if strings.ContainsAny(printed, "\u001b\u202e\x00") {
			t.Errorf("printable returned %q", printed)
		}
	})
}

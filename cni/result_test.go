package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/containernetworking/cni/pkg/version"
)

const (
	single    = `{"ips":[{"protocol":"IPv4","ip":"172.17.0.11","cidr":"172.17.0.0/16"}]}`
	withGW    = `{"ips":[{"protocol":"IPv4","ip":"172.17.0.11","cidr":"172.17.0.0/16","gateway":"172.17.0.1"}]}`
	dualStack = `{"ips":[{"protocol":"IPv4","ip":"10.0.0.2","cidr":"10.0.0.0/24","gateway":"10.0.0.1"},` +
		`{"protocol":"IPv6","ip":"fd00::2","cidr":"fd00::/64","gateway":"fd00::1"}]}`
	flatDual = `{"protocol":"Dual","address":"10.0.0.2,fd00::2","cidr":"10.0.0.0/24,fd00::/64","gateway":"10.0.0.1,fd00::1",` +
		`"mac_address":"","routes":null,"mtu":0,"nicname":"","dns":{},"error":""}`
)

// resultAs returns the result that the plugin prints for an agent's response, with sorted keys and without space.
func resultAs(t *testing.T, cniVersion, body string) string {
	t.Helper()
	response := &cniResponse{}
	if err := json.Unmarshal([]byte(body), response); err != nil {
		t.Fatal(err)
	}
	result, err := newResultOfAll(response, "/ns")
	if err != nil {
		return "error: " + err.Error()
	}
	converted, err := result.GetAsVersion(cniVersion)
	if err != nil {
		return "error: " + err.Error()
	}
	printed := &strings.Builder{}
	if err := converted.PrintTo(printed); err != nil {
		t.Fatal(err)
	}
	return compact(t, printed.String())
}

func TestResult(t *testing.T) {
	const nic = `"interfaces":[{"name":"","sandbox":"/ns"}],`
	for name, c := range map[string]struct{ response, expected string }{
		"an address alone": {single,
			`{"cniVersion":"1.1.0",` + nic + `"ips":[{"address":"172.17.0.11/16","interface":0}]}`},
		"a gateway means a default route": {withGW,
			`{"cniVersion":"1.1.0",` + nic + `"ips":[{"address":"172.17.0.11/16","gateway":"172.17.0.1","interface":0}],` +
				`"routes":[{"dst":"0.0.0.0/0","gw":"172.17.0.1"}]}`},
		"explicit routes replace the default routes": {`{"ips":[{"ip":"172.17.0.11","cidr":"172.17.0.0/16","gateway":"172.17.0.1"}],` +
			`"routes":[{"dst":"19.10.0.0/16","gw":"172.17.0.254"}]}`,
			`{"cniVersion":"1.1.0",` + nic + `"ips":[{"address":"172.17.0.11/16","gateway":"172.17.0.1","interface":0}],` +
				`"routes":[{"dst":"19.10.0.0/16","gw":"172.17.0.254"}]}`},
		"a missing destination is the default of the gateway's family": {
			`{"ips":[],"routes":[{"gw":"172.17.0.254"},{"gw":"fd00::9"},{}]}`,
			`{"cniVersion":"1.1.0",` + nic + `"routes":[{"dst":"0.0.0.0/0","gw":"172.17.0.254"},` +
				`{"dst":"::/0","gw":"fd00::9"},{"dst":"::/0"}]}`},
		"a destination loses its host bits": {`{"ips":[],"routes":[{"dst":"192.168.0.101/24","gw":"172.17.0.254"}]}`,
			`{"cniVersion":"1.1.0",` + nic + `"routes":[{"dst":"192.168.0.0/24","gw":"172.17.0.254"}]}`},
		"a NIC that the agent made has an interface on the node, too": {
			`{"ips":[{"ip":"172.17.0.11","cidr":"172.17.0.0/16"}],"mac_address":"02:00:00:00:00:11","mtu":1400,` +
				`"nicname":"net1","host_nicname":"c1_net1_h"}`,
			`{"cniVersion":"1.1.0","interfaces":[{"mac":"02:00:00:00:00:11","mtu":1400,"name":"net1","sandbox":"/ns"},` +
				`{"mtu":1400,"name":"c1_net1_h"}],"ips":[{"address":"172.17.0.11/16","interface":0}]}`},
		"a gateway for the plugin's end on the node means no default route": {
			`{"ips":[{"ip":"172.17.0.11","cidr":"172.17.0.0/16","node_gateway":"172.17.0.254"}]}`,
			`{"cniVersion":"1.1.0",` + nic + `"ips":[{"address":"172.17.0.11/16","gateway":"172.17.0.254","interface":0}]}`},
		"both families": {dualStack,
			`{"cniVersion":"1.1.0",` + nic + `"ips":[{"address":"10.0.0.2/24","gateway":"10.0.0.1","interface":0},` +
				`{"address":"fd00::2/64","gateway":"fd00::1","interface":0}],` +
				`"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"::/0","gw":"fd00::1"}]}`},
		"a NIC of Kube-OVN's own kind": {`{"ips":[],"mac_address":"02:00:00:00:00:01","mtu":1400,"nicname":"eth0"}`,
			`{"cniVersion":"1.1.0","interfaces":[{"mac":"02:00:00:00:00:01","mtu":1400,"name":"eth0","sandbox":"/ns"}]}`},
		"all NICs of one ADD": {`{"ips":[],"nics":[` +
			`{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0/24"}],"mac_address":"02:00:00:00:00:01","nicname":"net0","host_nicname":"c1_net0_h"},` +
			`{"ips":[{"ip":"10.0.1.2","cidr":"10.0.1.0/24","gateway":"10.0.1.1"}],"mac_address":"02:00:00:00:00:02","nicname":"net1"}]}`,
			`{"cniVersion":"1.1.0","interfaces":[{"mac":"02:00:00:00:00:01","name":"net0","sandbox":"/ns"},{"name":"c1_net0_h"},` +
				`{"mac":"02:00:00:00:00:02","name":"net1","sandbox":"/ns"}],` +
				`"ips":[{"address":"10.0.0.2/24","interface":0},{"address":"10.0.1.2/24","gateway":"10.0.1.1","interface":2}],` +
				`"routes":[{"dst":"0.0.0.0/0","gw":"10.0.1.1"}]}`},
		"an invalid address of a further NIC": {`{"ips":[],"nics":[{"ips":[]},{"ips":[{"ip":"x","cidr":"10.0.0.0/8"}]}]}`,
			`error: address "x" in subnet "10.0.0.0/8"`},
		"an invalid destination": {`{"ips":[],"routes":[{"dst":"10.0.0.0","gw":"10.0.0.1"}]}`,
			`error: route to "10.0.0.0" by "10.0.0.1"`},
		"an invalid gateway":                         {`{"ips":[],"routes":[{"dst":"10.0.0.0/8","gw":"here"}]}`, `error: route to "10.0.0.0/8" by "here"`},
		"an address in a subnet of the other family": {`{"address":"10.0.0.2,fd00::2","cidr":"10.0.0.0/24"}`, `error: address "fd00::2" in subnet "10.0.0.0/24"`},
		"an invalid address":                         {`{"ips":[{"ip":"x","cidr":"10.0.0.0/8"}]}`, `error: address "x" in subnet "10.0.0.0/8"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := resultAs(t, "1.1.0", c.response); got != c.expected {
				t.Errorf("\n got %s\nwant %s", got, c.expected)
			}
		})
	}
}

// The flat form of releases before v1.16 gives the same results as `ips`.
func TestFlatResponseGivesTheSameResult(t *testing.T) {
	for flat, listed := range map[string]string{
		flatDual: dualStack,
		`{"protocol":"IPv4","address":"172.17.0.11","cidr":"172.17.0.0/16","gateway":""}`: single,
	} {
		if got, expected := resultAs(t, "1.1.0", flat), resultAs(t, "1.1.0", listed); got != expected {
			t.Errorf("\n got %s\nwant %s", got, expected)
		}
	}
	both := strings.Replace(single, `{`, `{"address":"9.9.9.9","cidr":"9.0.0.0/8",`, 1)
	if got := resultAs(t, "1.1.0", both); strings.Contains(got, "9.9.9.9") {
		t.Errorf("the flat fields replace ips: %s", got)
	}
}

func TestResultOfEachVersion(t *testing.T) {
	const (
		old = `"dns":{},"ip4":{"gateway":"10.0.0.1","ip":"10.0.0.2/24","routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"}]},` +
			`"ip6":{"gateway":"fd00::1","ip":"fd00::2/64","routes":[{"dst":"::/0","gw":"fd00::1"}]}}`
		middle = `"dns":{},"interfaces":[{"name":"","sandbox":"/ns"}],"ips":[` +
			`{"address":"10.0.0.2/24","gateway":"10.0.0.1","interface":0,"version":"4"},` +
			`{"address":"fd00::2/64","gateway":"fd00::1","interface":0,"version":"6"}],` +
			`"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"::/0","gw":"fd00::1"}]}`
		current = `"interfaces":[{"name":"","sandbox":"/ns"}],"ips":[` +
			`{"address":"10.0.0.2/24","gateway":"10.0.0.1","interface":0},` +
			`{"address":"fd00::2/64","gateway":"fd00::1","interface":0}],` +
			`"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"::/0","gw":"fd00::1"}]}`
	)
	expected := map[string]string{
		"0.1.0": old, "0.2.0": old, "0.3.0": middle, "0.3.1": middle, "0.4.0": middle, "1.0.0": current, "1.1.0": current,
	}
	for _, cniVersion := range version.All.SupportedVersions() {
		if got := resultAs(t, cniVersion, dualStack); got != `{"cniVersion":"`+cniVersion+`",`+expected[cniVersion] {
			t.Errorf("%s\n got %s\nwant %s", cniVersion, got, expected[cniVersion])
		}
	}
	if got := resultAs(t, "", dualStack); !strings.HasPrefix(got, `{"cniVersion":"0.1.0"`) {
		t.Errorf("no version: %s", got)
	}
}

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

// resultAs renders an answer as the plugin prints it, with sorted keys and without space.
func resultAs(t *testing.T, cniVersion, answer string) string {
	t.Helper()
	response := &cniResponse{}
	if err := json.Unmarshal([]byte(answer), response); err != nil {
		t.Fatal(err)
	}
	result, err := newResult(response, "/ns")
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
	for name, c := range map[string]struct{ answer, want string }{
		"an address alone": {single,
			`{"cniVersion":"1.1.0",` + nic + `"ips":[{"address":"172.17.0.11/16","interface":0}]}`},
		"a gateway means a default route": {withGW,
			`{"cniVersion":"1.1.0",` + nic + `"ips":[{"address":"172.17.0.11/16","gateway":"172.17.0.1","interface":0}],` +
				`"routes":[{"dst":"0.0.0.0/0","gw":"172.17.0.1"}]}`},
		"explicit routes stand alone": {`{"ips":[{"ip":"172.17.0.11","cidr":"172.17.0.0/16","gateway":"172.17.0.1"}],` +
			`"routes":[{"dst":"19.10.0.0/16","gw":"172.17.0.254"}]}`,
			`{"cniVersion":"1.1.0",` + nic + `"ips":[{"address":"172.17.0.11/16","gateway":"172.17.0.1","interface":0}],` +
				`"routes":[{"dst":"19.10.0.0/16","gw":"172.17.0.254"}]}`},
		"no destination is the default of the gateway's family": {
			`{"ips":[],"routes":[{"gw":"172.17.0.254"},{"gw":"fd00::9"},{}]}`,
			`{"cniVersion":"1.1.0",` + nic + `"routes":[{"dst":"0.0.0.0/0","gw":"172.17.0.254"},` +
				`{"dst":"::/0","gw":"fd00::9"},{"dst":"::/0"}]}`},
		"a destination loses its host bits": {`{"ips":[],"routes":[{"dst":"192.168.0.101/24","gw":"172.17.0.254"}]}`,
			`{"cniVersion":"1.1.0",` + nic + `"routes":[{"dst":"192.168.0.0/24","gw":"172.17.0.254"}]}`},
		"both families": {dualStack,
			`{"cniVersion":"1.1.0",` + nic + `"ips":[{"address":"10.0.0.2/24","gateway":"10.0.0.1","interface":0},` +
				`{"address":"fd00::2/64","gateway":"fd00::1","interface":0}],` +
				`"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"::/0","gw":"fd00::1"}]}`},
		"a NIC of Kube-OVN's own kind": {`{"ips":[],"mac_address":"02:00:00:00:00:01","mtu":1400,"nicname":"eth0"}`,
			`{"cniVersion":"1.1.0","interfaces":[{"mac":"02:00:00:00:00:01","mtu":1400,"name":"eth0","sandbox":"/ns"}]}`},
		"a destination that is none": {`{"ips":[],"routes":[{"dst":"10.0.0.0","gw":"10.0.0.1"}]}`,
			`error: route to "10.0.0.0" by "10.0.0.1"`},
		"a gateway that is none":  {`{"ips":[],"routes":[{"dst":"10.0.0.0/8","gw":"here"}]}`, `error: route to "10.0.0.0/8" by "here"`},
		"an address that is none": {`{"ips":[{"ip":"x","cidr":"10.0.0.0/8"}]}`, `error: address "x" in subnet "10.0.0.0/8"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := resultAs(t, "1.1.0", c.answer); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// The flat shape of the time before v1.16 gives the same results as `ips`.
func TestFlatAnswer(t *testing.T) {
	for flat, listed := range map[string]string{
		flatDual: dualStack,
		`{"protocol":"IPv4","address":"172.17.0.11","cidr":"172.17.0.0/16","gateway":""}`: single,
	} {
		if got, want := resultAs(t, "1.1.0", flat), resultAs(t, "1.1.0", listed); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	both := strings.Replace(single, `{`, `{"address":"9.9.9.9","cidr":"9.0.0.0/8",`, 1)
	if got := resultAs(t, "1.1.0", both); strings.Contains(got, "9.9.9.9") {
		t.Errorf("the flat fields win over ips: %s", got)
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
	want := map[string]string{
		"0.1.0": old, "0.2.0": old, "0.3.0": middle, "0.3.1": middle, "0.4.0": middle, "1.0.0": current, "1.1.0": current,
	}
	for _, cniVersion := range version.All.SupportedVersions() {
		if got := resultAs(t, cniVersion, dualStack); got != `{"cniVersion":"`+cniVersion+`",`+want[cniVersion] {
			t.Errorf("%s\n got %s\nwant %s", cniVersion, got, want[cniVersion])
		}
	}
	if got := resultAs(t, "", dualStack); !strings.HasPrefix(got, `{"cniVersion":"0.1.0"`) {
		t.Errorf("no version: %s", got)
	}
}

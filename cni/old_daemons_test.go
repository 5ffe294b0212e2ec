package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Kube-OVN's daemons before v1.16 send only flat fields; the first releases send fewer of them.
func TestPluginAcceptsResponsesOfDaemonsBeforeV116(t *testing.T) {
	const (
		request = `{"pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"/ns","if_name":"net1","provider":"macvlan.default"}`
		v4      = `"ips":[{"address":"172.17.0.11/16","gateway":"172.17.0.1","interface":0}],"routes":[{"dst":"0.0.0.0/0","gw":"172.17.0.1"}]`
	)
	for name, c := range map[string]struct{ response, expected string }{
		"of the first releases": {
			`{"protocol":"IPv4","address":"172.17.0.11","mac_address":"00:00:00:53:6B:B6","cidr":"172.17.0.0/16","gateway":"172.17.0.1","mtu":1400,"error":""}`,
			`{"cniVersion":"1.0.0","dns":{},"interfaces":[{"mac":"00:00:00:53:6B:B6","mtu":1400,"name":"","sandbox":"/ns"}],` + v4 + `}`},
		"of later ones": {
			`{"protocol":"IPv4","address":"172.17.0.11","mac_address":"","cidr":"172.17.0.0/16","gateway":"172.17.0.1","routes":null,"mtu":0,"nicname":"","dns":{},"error":""}`,
			`{"cniVersion":"1.0.0","dns":{},"interfaces":[{"name":"","sandbox":"/ns"}],` + v4 + `}`},
		"of two families": {
			`{"protocol":"Dual","address":"172.17.0.11,fd00::b","mac_address":"","cidr":"172.17.0.0/16,fd00::/64","gateway":"172.17.0.1,fd00::1",` +
				`"routes":[{"dst":"10.0.0.0/8","gw":"172.17.0.254"}],"mtu":0,"nicname":"","dns":{},"error":""}`,
			`{"cniVersion":"1.0.0","dns":{},"interfaces":[{"name":"","sandbox":"/ns"}],"ips":[` +
				`{"address":"172.17.0.11/16","gateway":"172.17.0.1","interface":0},{"address":"fd00::b/64","gateway":"fd00::1","interface":0}],` +
				`"routes":[{"dst":"10.0.0.0/8","gw":"172.17.0.254"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			fake := startAgent(t, 200, c.response)
			out, exitCode := run(t, "ADD", macvlan("1.0.0", fake.socket, ""))
			expected, got := map[string]any{}, map[string]any{}
			must(t, json.Unmarshal([]byte(c.expected), &expected))
			must(t, json.Unmarshal([]byte(out), &got))
			delete(expected, "dns")
			delete(got, "dns")
			if a, b := asJSON(t, got), asJSON(t, expected); exitCode != 0 || a != b {
				t.Errorf("exit %d\n got %s\nwant %s", exitCode, a, b)
			}
			_, body, _ := strings.Cut(<-fake.requests, "\n")
			sent, expected := map[string]any{}, map[string]any{}
			must(t, json.Unmarshal([]byte(body), &sent))
			must(t, json.Unmarshal([]byte(request), &expected))
			for field, value := range expected {
				if sent[field] != value {
					t.Errorf("%s: got %v, expected %v", field, sent[field], value)
				}
			}
		})
	}
	fake := startAgent(t, 500, `{"protocol":"","address":"","mac_address":"","cidr":"","gateway":"","mtu":0,"error":"no address"}`)
	out, _ := run(t, "ADD", macvlan("1.0.0", fake.socket, ""))
	if !strings.Contains(out, `"details":"request ip return 500 no address"`) {
		t.Errorf("an error: %s", out)
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, err)
	return string(text)
}

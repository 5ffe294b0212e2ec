package main

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// findLink returns a link of this machine, which stands in for the link of the previous plugin.
func findLink(t *testing.T) (name, mac string) {
	t.Helper()
	links, err := net.Interfaces()
	must(t, err)
	for _, each := range links {
		if len(each.HardwareAddr) > 0 {
			return each.Name, each.HardwareAddr.String()
		}
	}
	t.Skip("no link of this machine has a MAC")
	return "", ""
}

// chained returns a configuration of the plugin after another.
func chained(version, name, mac string) string {
	config := fmt.Sprintf(`{"cniVersion":%q,"name":"lan","type":"kube-ovn","prevResult":{"cniVersion":%q,"interfaces":[`+
		`{"name":"lo","mac":"02:00:00:00:00:09","sandbox":""},{"name":"lo","mac":%q,"sandbox":"/proc/self/ns/net"}],`+
		`"ips":[{"address":"10.0.0.2/24","gateway":"10.0.0.1","interface":1}],"routes":[{"dst":"10.1.0.0/16"}],`+
		`"dns":{"domain":"d"}}}`, version, version, mac)
	return strings.ReplaceAll(config, `"name":"lo"`, fmt.Sprintf(`"name":%q`, name))
}

func onThisMachine(name string) []string {
	return []string{"CNI_IFNAME=" + name, "CNI_NETNS=/proc/self/ns/net", "CNI_NETNS_OVERRIDE=TRUE", "CNI_ARGS="}
}

func TestChainedADDReturnsTheLinksMAC(t *testing.T) {
	name, mac := findLink(t)
	out, exitCode := run(t, "ADD", chained("1.1.0", name, "02:00:00:00:00:01"), onThisMachine(name)...)
	expected := fmt.Sprintf(`{"cniVersion":"1.1.0","dns":{"domain":"d"},"interfaces":[{"mac":"02:00:00:00:00:09","name":%[1]q},`+
		`{"mac":%[2]q,"name":%[1]q,"sandbox":"/proc/self/ns/net"}],`+
		`"ips":[{"address":"10.0.0.2/24","gateway":"10.0.0.1","interface":1}],"routes":[{"dst":"10.1.0.0/16"}]}`, name, mac)
	if exitCode != 0 || compact(t, out) != expected {
		t.Errorf("exit %d\n got %s\nwant %s", exitCode, out, expected)
	}
	out, exitCode = run(t, "ADD", `{"cniVersion":"0.2.0","name":"lan","type":"kube-ovn","prevResult":{"ip4":{"ip":"10.0.0.2/24"}}}`,
		onThisMachine(name)...)
	if expected := `{"cniVersion":"0.2.0","dns":{},"ip4":{"ip":"10.0.0.2/24"}}`; exitCode != 0 || compact(t, out) != expected {
		t.Errorf("0.2.0, which has no interfaces: exit %d\n got %s\nwant %s", exitCode, out, expected)
	}
}

func TestChainedCHECKComparesTheLinksMAC(t *testing.T) {
	name, mac := findLink(t)
	if out, exitCode := run(t, "CHECK", chained("1.1.0", name, strings.ToUpper(mac)), onThisMachine(name)...); exitCode != 0 || out != "" {
		t.Errorf("exit %d, %s", exitCode, out)
	}
	out, exitCode := run(t, "CHECK", chained("1.1.0", name, "02:00:00:00:00:01"), onThisMachine(name)...)
	expected := fmt.Sprintf(`{"cniVersion":"1.1.0","code":101,"details":"","msg":"link %s has MAC %s, and prevResult has 02:00:00:00:00:01"}`,
		name, mac)
	if exitCode != 1 || strings.TrimSpace(out) != expected {
		t.Errorf("exit %d\n got %s\nwant %s", exitCode, out, expected)
	}
}

// lo has no MAC.
func TestChainedADDKeepsTheMACWhenTheLinkHasNone(t *testing.T) {
	config := chained("1.1.0", "lo", "02:00:00:00:00:01")
	out, exitCode := run(t, "ADD", config, onThisMachine("lo")...)
	if exitCode != 0 || !strings.Contains(out, "02:00:00:00:00:01") {
		t.Errorf("exit %d, %s", exitCode, out)
	}
	if out, exitCode := run(t, "CHECK", config, onThisMachine("lo")...); exitCode != 0 {
		t.Errorf("CHECK: exit %d, %s", exitCode, out)
	}
}

// A main plugin is not a chained plugin, even if it gets a prevResult.
func TestChainedADDNeedsTheLink(t *testing.T) {
	missing := onThisMachine("net9")
	config := chained("1.1.0", "net9", "02:00:00:00:00:01")
	for name, c := range map[string]struct{ command, config, expected string }{
		"no link":                    {"ADD", config, `"code":7,"details":"there is no link net9 in /proc/self/ns/net`},
		"no link at CHECK":           {"CHECK", config, `"code":101,`},
		"another interface":          {"ADD", chained("1.1.0", "lo", ""), "prevResult has no interface net9 in the sandbox"},
		"an invalid result":          {"ADD", with(`{"cniVersion":"1.1.0","name":"lan","type":"kube-ovn"}`, `"prevResult":[]`), `"code":6,`},
		"no result: the main plugin": {"ADD", `{"cniVersion":"1.1.0","name":"lan","type":"kube-ovn","prevResult":null}`, "server_socket is required"},
		"a result and ipam":          {"ADD", with(config, `"ipam":{"type":"kube-ovn"}`), "server_socket is required"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, exitCode := run(t, c.command, c.config, missing...); exitCode != 1 || !strings.Contains(out, c.expected) {
				t.Errorf("exit %d, %s", exitCode, out)
			}
		})
	}
}

// The configuration of a chained plugin names no agent, and at DEL it may have no prevResult.
func TestChainedDELGCAndSTATUSDoNothing(t *testing.T) {
	for _, command := range []string{"DEL", "GC", "STATUS"} {
		config := `{"cniVersion":"1.1.0","name":"lan","type":"kube-ovn"}`
		if out, exitCode := run(t, command, config, "CNI_ARGS=", "CNI_NETNS="); exitCode != 0 || out != "" {
			t.Errorf("%s: exit %d, %s", command, exitCode, out)
		}
	}
}

package main

// The plugin's configuration, environment, wire format and errors, with a fake agent. This file also has the tests' fakes.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The test binary is the plugin if this variable is set.
const bePlugin = "IPLEDGER_TEST_BE_PLUGIN"

func TestMain(m *testing.M) {
	if socket := os.Getenv(beListener); socket != "" {
		listenForever(socket)
		os.Exit(0)
	}
	if os.Getenv(bePlugin) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const podArgs = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=p"

// run executes the plugin like a runtime. In `env`, "NAME=" removes a variable.
func run(t *testing.T, command, config string, env ...string) (stdout string, exitCode int) {
	t.Helper()
	plugin := exec.Command(os.Args[0])
	plugin.Env = append([]string{
		bePlugin + "=1", "CNI_COMMAND=" + command, "CNI_CONTAINERID=c1", "CNI_NETNS=/ns", "CNI_IFNAME=net1",
		"CNI_PATH=/opt/cni/bin", "CNI_ARGS=" + podArgs,
	}, env...)
	plugin.Stdin = strings.NewReader(config)
	out, err := plugin.Output()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return string(out), plugin.ProcessState.ExitCode()
}

type fakeAgent struct {
	socket   string
	requests chan string // of each request: method, path and headers, then its body
	traces   chan string // of each request: its Traceparent
}

// startAgent starts an agent that gives every request the same response.
func startAgent(t *testing.T, status int, body string) *fakeAgent {
	t.Helper()
	fake := &fakeAgent{socket: filepath.Join(t.TempDir(), "s"), requests: make(chan string, 8), traces: make(chan string, 64)}
	listener, err := net.Listen("unix", fake.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			reader := bufio.NewReader(connection)
			request, err := http.ReadRequest(reader)
			if err == nil {
				content, _ := io.ReadAll(request.Body)
				fake.requests <- fmt.Sprintf("%s %s Host=%s Content-Type=%s Accept=%s\n%s", request.Method, request.URL,
					request.Host, request.Header.Get("Content-Type"), request.Header.Get("Accept"), content)
				fake.traces <- request.Header.Get("Traceparent")
				fmt.Fprintf(connection, "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n\r\n%s", status, body)
			}
			connection.Close()
		}
	}()
	return fake
}

func macvlan(version, socket, more string) string {
	return fmt.Sprintf(`{"cniVersion":%q,"name":"macvlan","type":"macvlan","master":"eth0",`+
		`"ipam":{"type":"kube-ovn","server_socket":%q,"provider":"macvlan.default"%s}}`, version, socket, more)
}

const missingListError = `{"cniVersion":"1.1.0","code":7,"details":"cni.dev/valid-attachments is required for GC: the list of ` +
	`valid attachments, which may be empty","msg":"Invalid Configuration"}`

// with adds a field to a configuration.
func with(config, field string) string {
	return strings.TrimSuffix(config, "}") + "," + field + "}"
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	compacted, _ := json.Marshal(value)
	return string(compacted)
}

func TestPluginRejectsInvalidConfigurationAndEnvironment(t *testing.T) {
	const noSocket = `{"cniVersion":"0.3.1","name":"macvlan","type":"macvlan","ipam":{"type":"kube-ovn","provider":"x.y"}}`
	valid := macvlan("1.0.0", "/nonexistent/s", "")
	for name, c := range map[string]struct {
		command, config string
		env             []string
		expected        string // the error as printed, or its beginning where the library chooses the words
	}{
		"no server_socket": {config: noSocket, expected: `{"cniVersion":"0.3.1","code":7,"details":` +
			`"server_socket is required in cni.conf: the path of the node agent's socket","msg":"Invalid Configuration"}`},
		"a server_socket beside ipam is ignored": {
			config: `{"cniVersion":"0.3.1","name":"m","type":"macvlan","server_socket":"/s","ipam":{"type":"kube-ovn"}}`,
			expected: `{"cniVersion":"0.3.1","code":7,"details":` +
				`"server_socket is required in cni.conf: the path of the node agent's socket","msg":"Invalid Configuration"}`},
		"broken JSON": {config: `{`, expected: `{"cniVersion":"0.1.0","code":6,"details":"",` +
			`"msg":"error unmarshall network config: unexpected end of JSON input"}`},
		"a field of the wrong type": {config: `{"cniVersion":"1.0.0","name":"m","type":"macvlan","ipam":{"provider":1}}`,
			expected: `{"cniVersion":"1.0.0","code":6,"details":"json: cannot unmarshal number into Go struct field `},
		"no name": {config: `{"cniVersion":"1.1.0","type":"macvlan"}`,
			expected: `{"cniVersion":"1.1.0","code":7,"details":"","msg":"missing network name"}`},
		"an unknown CNI version": {config: `{"cniVersion":"9.0.0","name":"m","type":"macvlan"}`,
			expected: `{"cniVersion":"1.1.0","code":1,"details":"config is \"9.0.0\", plugin supports ` +
				`[\"0.1.0\" \"0.2.0\" \"0.3.0\" \"0.3.1\" \"0.4.0\" \"1.0.0\" \"1.1.0\"]","msg":"incompatible CNI versions"}`},
		"no CNI_ARGS": {config: valid, env: []string{"CNI_ARGS="},
			expected: `{"cniVersion":"1.0.0","code":7,"details":"CNI_ARGS is required","msg":"Invalid Configuration"}`},
		"no Pod name": {config: valid, env: []string{"CNI_ARGS=K8S_POD_NAMESPACE=default"},
			expected: `{"cniVersion":"1.0.0","code":7,"details":"K8S_POD_NAME is required in CNI_ARGS","msg":"Invalid Configuration"}`},
		"no Pod namespace": {config: valid, env: []string{"CNI_ARGS=K8S_POD_NAME=p;K8S_POD_NAMESPACE="},
			expected: `{"cniVersion":"1.0.0","code":7,"details":"K8S_POD_NAMESPACE is required in CNI_ARGS","msg":"Invalid Configuration"}`},
		"no container": {config: valid, env: []string{"CNI_CONTAINERID="},
			expected: `{"cniVersion":"1.0.0","code":4,"details":"","msg":"required env variables [CNI_CONTAINERID] missing"}`},
		"an invalid interface name": {config: valid, env: []string{"CNI_IFNAME=a/b"},
			expected: `{"cniVersion":"1.0.0","code":4,"details":"CNI_IFNAME=a/b","msg":"interface name contains / or : or whitespace characters"}`},
		"an interface name of 16 characters": {config: valid, env: []string{"CNI_IFNAME=sixteen-letters-"},
			expected: `{"cniVersion":"1.0.0","code":4,"details":"CNI_IFNAME=sixteen-letters- interface name should be less than 16 ` +
				`characters","msg":"interface name is too long"}`},
		"an invalid container ID": {config: valid, env: []string{"CNI_CONTAINERID=-c1"},
			expected: `{"cniVersion":"1.0.0","code":4,"details":"CNI_CONTAINERID=-c1","msg":"invalid characters in containerID"}`},
		"GC without CNI_PATH": {command: "GC", config: macvlan("1.1.0", "/s", ""), env: []string{"CNI_PATH="},
			expected: `{"cniVersion":"1.1.0","code":4,"details":"","msg":"required env variables [CNI_PATH] missing"}`},
		"CHECK without prevResult": {command: "CHECK", config: macvlan("1.0.0", "/s", ""),
			expected: `{"cniVersion":"1.0.0","code":7,"details":"prevResult is required for CHECK: the result of the ADD",` +
				`"msg":"Invalid Configuration"}`},
		"CHECK with an invalid prevResult": {command: "CHECK",
			config:   with(macvlan("1.0.0", "/s", ""), `"prevResult":{"ips":[{"address":"here"}]}`),
			expected: `{"cniVersion":"1.0.0","code":6,"details":"invalid CIDR address: here","msg":"failed to load prevResult"}`},
		"GC without a list": {command: "GC", config: macvlan("1.1.0", "/s", ""), expected: missingListError},
		"GC with null as list": {command: "GC", expected: missingListError,
			config: with(macvlan("1.1.0", "/s", ""), `"cni.dev/valid-attachments":null`)},
		"GC with the list's old name": {command: "GC", expected: missingListError,
			config: with(macvlan("1.1.0", "/s", ""), `"cni.dev/attachments":[]`)},
		"GC with an invalid list": {command: "GC",
			config:   with(macvlan("1.1.0", "/s", ""), `"cni.dev/valid-attachments":{}`),
			expected: `{"cniVersion":"1.1.0","code":6,"details":"json: cannot unmarshal object into Go struct field `},
		"GC before CNI 1.1.0": {command: "GC", config: valid,
			expected: `{"cniVersion":"1.0.0","code":1,"details":"","msg":"config version does not allow GC"}`},
		"an unknown command": {command: "PUT", config: valid,
			expected: `{"cniVersion":"1.0.0","code":4,"details":"","msg":"unknown CNI_COMMAND: PUT"}`},
		"its own network namespace": {config: valid, env: []string{"CNI_NETNS=/proc/self/ns/net"},
			expected: `{"cniVersion":"1.0.0","code":8,"details":"/proc/self/ns/net","msg":"CNI_NETNS is the plugin's own network namespace"}`},
		"CHECK before CNI 0.4.0": {command: "CHECK", config: macvlan("0.3.1", "/s", ""),
			expected: `{"cniVersion":"0.3.1","code":1,"details":"","msg":"config version does not allow CHECK"}`},
		"STATUS before CNI 1.1.0": {command: "STATUS", config: valid,
			expected: `{"cniVersion":"1.0.0","code":1,"details":"","msg":"config version does not allow STATUS"}`},
		"DEL without server_socket": {command: "DEL", config: noSocket, expected: `{"cniVersion":"0.3.1","code":7,"details":` +
			`"server_socket is required in cni.conf: the path of the node agent's socket","msg":"Invalid Configuration"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.command == "" {
				c.command = "ADD"
			}
			out, exitCode := run(t, c.command, c.config, c.env...)
			if exitCode != 1 || !strings.HasPrefix(out, c.expected) {
				t.Errorf("exit %d\n got %s\nwant %s", exitCode, out, c.expected)
			}
		})
	}
}

// The bytes are those of Kube-OVN's plugin, so that Kube-OVN's daemon accepts the requests.
func TestPluginSendsKubeOVNsWireBytes(t *testing.T) {
	const noDevice = `"vf_driver":"","deviceID":"","vhost_user_socket_volume_name":"","vhost_user_socket_name":"",` +
		`"vhost_user_socket_consumption":""`
	const rich = `{"cniVersion":"1.0.0","name":"n","type":"kube-ovn","server_socket":%q,"provider":"n.default.ovn",
		"dns":{"nameservers":["1.1.1.1"],"search":["a.b"]},"routes":[{"dst":"10.0.0.0/8","gw":"10.1.0.1"},{"gw":"10.1.0.2"}],
		"deviceID":"0000:00:01.0","vf_driver":"vfio-pci","vhost_user_socket_volume_name":"v","vhost_user_socket_name":"s",
		"vhost_user_socket_consumption":"c","ipam":{"type":"kube-ovn","server_socket":"/ipam-does-not-count"}}`
	const richDevice = `"deviceID":"0000:00:01.0","vhost_user_socket_volume_name":"v","vhost_user_socket_name":"s",` +
		`"vhost_user_socket_consumption":"c"`
	for name, c := range map[string]struct{ command, config, env, expected string }{
		"ADD of an IPAM plugin": {"ADD", macvlan("0.3.1", "%s", ""), "", `{"cni_type":"macvlan","pod_name":"p",` +
			`"pod_namespace":"default","container_id":"c1","net_ns":"/ns","if_name":"net1","provider":"macvlan.default",` +
			`"routes":null,"dns":{},` + noDevice + `}`},
		"ADD with routes": {"ADD", macvlan("0.3.1", "%s", `,"routes":[{"dst":"19.10.0.0/16","gw":"172.17.0.254"}]`), "",
			`{"cni_type":"macvlan","pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"/ns",` +
				`"if_name":"net1","provider":"macvlan.default","routes":[{"dst":"19.10.0.0/16","gw":"172.17.0.254"}],` +
				`"dns":{},` + noDevice + `}`},
		"ADD without a provider": {"ADD", `{"name":"n","type":"macvlan","ipam":{"server_socket":"%s"}}`, "", `{"cni_type":` +
			`"macvlan","pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"/ns","if_name":"net1",` +
			`"provider":"ovn","routes":null,"dns":{},` + noDevice + `}`},
		"ADD with the Pod's uid": {"ADD", macvlan("1.1.0", "%s", ""), "CNI_ARGS=" + podArgs + ";K8S_POD_UID=u-1",
			`{"cni_type":"macvlan","pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"/ns",` +
				`"if_name":"net1","provider":"macvlan.default","routes":null,"dns":{},` + noDevice + `,"pod_uid":"u-1"}`},
		"ADD as main plugin": {"ADD", strings.Replace(rich, "%q", `"%s"`, 1), "", `{"cni_type":"kube-ovn","pod_name":"p",` +
			`"pod_namespace":"default","container_id":"c1","net_ns":"/ns","if_name":"net1","provider":"n.default.ovn",` +
			`"routes":[{"dst":"10.0.0.0/8","gw":"10.1.0.1"},{"gw":"10.1.0.2"}],` +
			`"dns":{"nameservers":["1.1.1.1"],"search":["a.b"]},"vf_driver":"vfio-pci",` + richDevice + `}`},
		"DEL as main plugin": {"DEL", strings.Replace(rich, "%q", `"%s"`, 1), "CNI_NETNS=", `{"cni_type":"kube-ovn",` +
			`"pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"","if_name":"net1",` +
			`"provider":"n.default.ovn","routes":null,"dns":{},"vf_driver":"",` + richDevice + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			status := map[string]int{"ADD": 200, "DEL": 204}[c.command]
			fake := startAgent(t, status, `{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0/24"}]}`)
			out, exitCode := run(t, c.command, strings.Replace(c.config, "%s", fake.socket, 1), c.env)
			if exitCode != 0 {
				t.Fatalf("exit %d: %s", exitCode, out)
			}
			path := map[string]string{"ADD": "/api/v1/add", "DEL": "/api/v1/del"}[c.command]
			expected := "POST " + path + " Host=dummy Content-Type=application/json Accept=application/json\n" + c.expected
			if got := <-fake.requests; got != expected {
				t.Errorf("\n got %s\nwant %s", got, expected)
			}
		})
	}
}

// A plugin that gives the node the gateway's address gets a gateway from the agent, or the ADD fails.
func TestADDForAPluginThatTakesTheGateway(t *testing.T) {
	const named = `{"ips":[{"ip":"10.4.0.2","cidr":"10.4.0.0/24","node_gateway":"10.4.0.254"}]}`
	const unnamed = `{"ips":[{"ip":"10.4.0.2","cidr":"10.4.0.0/24"}]}`
	for name, c := range map[string]struct {
		plugin string // the beginning of its configuration
		takes  bool
	}{
		"bridge":                        {`"type":"bridge"`, false},
		"bridge, isGateway false":       {`"type":"bridge","isGateway":false`, false},
		"bridge, isGateway of no kind":  {`"type":"bridge","isGateway":"yes"`, false},
		"bridge, isGateway":             {`"type":"bridge","isGateway":true`, true},
		"bridge, isgateway in any case": {`"type":"bridge","isgateway":true`, true},
		"bridge, isDefaultGateway":      {`"type":"bridge","isDefaultGateway":true`, true},
		"bridge under another name":     {`"type":"cnv-bridge","isGateway":true`, true},
		"ptp":                           {`"type":"ptp"`, true},
		"macvlan":                       {`"type":"macvlan"`, false},
		"a NIC of Kube-OVN's own type":  {`"type":"kube-ovn","isGateway":true`, false},
	} {
		t.Run(name, func(t *testing.T) {
			for body, hasGateway := range map[string]bool{named: true, unnamed: false} {
				fake := startAgent(t, 200, body)
				config := fmt.Sprintf(`{"cniVersion":"1.0.0","name":"n",%s,"server_socket":%q,"ipam":{"type":"kube-ovn","server_socket":%q}}`,
					c.plugin, fake.socket, fake.socket)
				out, exitCode := run(t, "ADD", config)
				if sent := <-fake.requests; strings.Contains(sent, `"takes_gateway":true`) != c.takes {
					t.Errorf("sent %s", sent)
				}
				if refused := c.takes && !hasGateway; refused != (exitCode != 0) {
					t.Errorf("exit status %d: %s", exitCode, out)
				} else if refused && !strings.Contains(out, "named no gateway for 10.4.0.2") {
					t.Error(out)
				} else if !refused && strings.Contains(out, "routes") {
					t.Errorf("has a route: %s", out)
				}
			}
		})
	}
}

func TestPluginSendsTheTraceContextOfTheRuntime(t *testing.T) {
	const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for name, c := range map[string]struct{ variable, expected string }{
		"valid":             {valid, valid},
		"absent":            {"", ""},
		"shorter":           {valid[1:], ""},
		"longer":            {valid + "0", ""},
		"with a header":     {valid[:38] + "\r\nX-Injected: aa", ""},
		"of 55 other bytes": {strings.Repeat("x", 55), ""},
	} {
		t.Run(name, func(t *testing.T) {
			fake := startAgent(t, 200, `{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0/24"}]}`)
			out, exitCode := run(t, "ADD", macvlan("1.0.0", fake.socket, ""), "TRACEPARENT="+c.variable)
			if exitCode != 0 {
				t.Fatalf("exit %d: %s", exitCode, out)
			}
			if got := <-fake.traces; got != c.expected {
				t.Errorf("got %q, expected %q", got, c.expected)
			}
		})
	}
}

func TestPluginPrintsTheAgentsErrors(t *testing.T) {
	for name, c := range map[string]struct {
		command  string
		status   int
		body     string
		expected string
	}{
		"ADD that fails": {"ADD", 500, `{"ips":null,"error":"no address"}`,
			`{"cniVersion":"1.0.0","code":11,"details":"request ip return 500 no address","msg":"RPC failed"}`},
		"ADD that no retry resolves": {"ADD", 500, `{"error":"data path not available","cni_code":100}`,
			`{"cniVersion":"1.0.0","code":100,"details":"","msg":"data path not available"}`},
		"ADD with a code that the CNI specification reserves": {"ADD", 500, `{"error":"x","cni_code":3}`,
			`{"cniVersion":"1.0.0","code":11,"details":"request ip return 500 x","msg":"RPC failed"}`},
		"ADD with a response that is not JSON": {"ADD", 502, `<html>`,
			`{"cniVersion":"1.0.0","code":11,"details":"request ip return 502 <html>","msg":"RPC failed"}`},
		"ADD with an invalid address": {"ADD", 200, `{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0"}]}`,
			`{"cniVersion":"1.0.0","code":6,"details":"address \"10.0.0.2\" in subnet \"10.0.0.0\"",` +
				`"msg":"the node agent's response makes no CNI result"}`},
		"CHECK that finds a difference": {"CHECK", 500, `{"error":"it differs","cni_code":101}`,
			`{"cniVersion":"1.1.0","code":101,"details":"","msg":"it differs"}`},
		"CHECK that fails": {"CHECK", 500, `{"error":"later"}`,
			`{"cniVersion":"1.1.0","code":11,"details":"check return 500 later","msg":"RPC failed"}`},
		"GC that fails": {"GC", 500, `{"error":"1 of 3"}`,
			`{"cniVersion":"1.1.0","code":11,"details":"gc return 500 1 of 3","msg":"RPC failed"}`},
		"STATUS without an allocator": {"STATUS", 500, `{"error":"etcd is unavailable"}`,
			`{"cniVersion":"1.1.0","code":50,"details":"status return 500 etcd is unavailable","msg":"ipledger is not available"}`},
		"STATUS that no retry resolves": {"STATUS", 500, `{"error":"no","cni_code":100}`,
			`{"cniVersion":"1.1.0","code":50,"details":"no","msg":"ipledger is not available"}`},
		"DEL that fails": {"DEL", 500, `{"error":"later"}`,
			`{"cniVersion":"1.0.0","code":11,"details":"delete ip return 500 {\"error\":\"later\"}","msg":"RPC failed"}`},
	} {
		t.Run(name, func(t *testing.T) {
			config := macvlan("1.0.0", startAgent(t, c.status, c.body).socket, "")
			if c.command != "ADD" && c.command != "DEL" {
				config = with(strings.Replace(config, "1.0.0", "1.1.0", 1), `"prevResult":{},"cni.dev/valid-attachments":[]`)
			}
			out, exitCode := run(t, c.command, config)
			if exitCode != 1 || compact(t, out) != compact(t, c.expected) {
				t.Errorf("exit %d\n got %s\nwant %s", exitCode, out, c.expected)
			}
		})
	}
}

func TestPluginWithoutAnAgent(t *testing.T) {
	folder := t.TempDir()
	socket, pending := filepath.Join(folder, "s"), filepath.Join(folder, "pending")
	config, pendingDels := macvlan("1.0.0", socket, ""), pendingDelsVariable+"="+pending

	out, exitCode := run(t, "ADD", config, addWaitVariable+"=0")
	expected := fmt.Sprintf(`{"cniVersion":"1.0.0","code":11,"details":"request ip: dial unix %s: connect: no such file or `+
		`directory: is the node agent running?","msg":"RPC failed"}`, socket)
	if exitCode != 1 || strings.TrimSpace(out) != expected {
		t.Errorf("ADD: exit %d\n got %s\nwant %s", exitCode, out, expected)
	}

	out, exitCode = run(t, "STATUS", strings.Replace(config, "1.0.0", "1.1.0", 1))
	if exitCode != 1 || !strings.Contains(out, `"code":50,`) || !strings.Contains(out, "is the node agent running?") {
		t.Errorf("STATUS: exit %d, %s", exitCode, out)
	}

	for range 2 { // a repeated DEL writes no second file
		if out, exitCode := run(t, "DEL", config, pendingDels); exitCode != 0 || out != "" {
			t.Fatalf("DEL: exit %d, %s", exitCode, out)
		}
	}
	content, err := os.ReadFile(filepath.Join(pending, "c1@net1.json"))
	if err != nil {
		t.Fatal(err)
	}
	var saved struct {
		Socket  string     `json:"server_socket"`
		Request cniRequest `json:"request"`
	}
	if err := json.Unmarshal(content, &saved); err != nil || saved.Socket != socket || saved.Request.ContainerID != "c1" ||
		saved.Request.Provider != "macvlan.default" {
		t.Errorf("%v in %s", err, content)
	}
	if files, _ := os.ReadDir(pending); len(files) != 1 {
		t.Errorf("%d pending DELs", len(files))
	}

	blocked := pendingDelsVariable + "=/dev/null/pending"
	if out, exitCode := run(t, "DEL", config, blocked); exitCode != 1 || !strings.Contains(out, "/dev/null/pending") {
		t.Errorf("DEL that can't be saved: exit %d, %s", exitCode, out)
	}
}

// An agent that ends during a DEL may not have done it.
func TestDELIsSavedWhenTheAgentEndsWithoutAResponse(t *testing.T) {
	folder := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if connection, err := listener.Accept(); err == nil {
			connection.Read(make([]byte, 64))
			connection.Close()
		}
	}()
	config, pending := macvlan("1.0.0", filepath.Join(folder, "s"), ""), filepath.Join(folder, "pending")
	if out, exitCode := run(t, "DEL", config, pendingDelsVariable+"="+pending); exitCode != 0 {
		t.Errorf("exit %d, %s", exitCode, out)
	}
	if _, err := os.Stat(filepath.Join(pending, "c1@net1.json")); err != nil {
		t.Error(err)
	}
}

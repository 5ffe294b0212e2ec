package main

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

// The test binary is the plugin itself when this is set.
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

// run executes the plugin as a runtime would. In `env`, "NAME=" takes a variable away.
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

type agent struct {
	socket   string
	requests chan string // method, path and version of each request, then its headers, then its body
}

// startAgent answers every request in the same way.
func startAgent(t *testing.T, status int, body string) *agent {
	t.Helper()
	fake := &agent{socket: filepath.Join(t.TempDir(), "s"), requests: make(chan string, 8)}
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

const missingList = `{"cniVersion":"1.1.0","code":7,"details":"cni.dev/valid-attachments is required for GC: the list of ` +
	`what is still attached, which may be empty","msg":"Invalid Configuration"}`

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
	again, _ := json.Marshal(value)
	return string(again)
}

func TestConfigurationAndEnvironment(t *testing.T) {
	const noSocket = `{"cniVersion":"0.3.1","name":"macvlan","type":"macvlan","ipam":{"type":"kube-ovn","provider":"x.y"}}`
	valid := macvlan("1.0.0", "/nonexistent/s", "")
	for name, c := range map[string]struct {
		command, config string
		env             []string
		want            string // the error as printed, or how that starts where the library's words are its own
	}{
		"no server_socket": {config: noSocket, want: `{"cniVersion":"0.3.1","code":7,"details":` +
			`"server_socket is required in cni.conf: the path of the node agent's socket","msg":"Invalid Configuration"}`},
		"a server_socket beside ipam does not count": {
			config: `{"cniVersion":"0.3.1","name":"m","type":"macvlan","server_socket":"/s","ipam":{"type":"kube-ovn"}}`,
			want: `{"cniVersion":"0.3.1","code":7,"details":` +
				`"server_socket is required in cni.conf: the path of the node agent's socket","msg":"Invalid Configuration"}`},
		"broken JSON": {config: `{`, want: `{"cniVersion":"0.1.0","code":6,"details":"",` +
			`"msg":"error unmarshall network config: unexpected end of JSON input"}`},
		"a field of the wrong type": {config: `{"cniVersion":"1.0.0","name":"m","type":"macvlan","ipam":{"provider":1}}`,
			want: `{"cniVersion":"1.0.0","code":6,"details":"json: cannot unmarshal number into Go struct field `},
		"no name": {config: `{"cniVersion":"1.1.0","type":"macvlan"}`,
			want: `{"cniVersion":"1.1.0","code":7,"details":"","msg":"missing network name"}`},
		"a version of the future": {config: `{"cniVersion":"9.0.0","name":"m","type":"macvlan"}`,
			want: `{"cniVersion":"1.1.0","code":1,"details":"config is \"9.0.0\", plugin supports ` +
				`[\"0.1.0\" \"0.2.0\" \"0.3.0\" \"0.3.1\" \"0.4.0\" \"1.0.0\" \"1.1.0\"]","msg":"incompatible CNI versions"}`},
		"no CNI_ARGS": {config: valid, env: []string{"CNI_ARGS="},
			want: `{"cniVersion":"1.0.0","code":7,"details":"CNI_ARGS is required","msg":"Invalid Configuration"}`},
		"no Pod name": {config: valid, env: []string{"CNI_ARGS=K8S_POD_NAMESPACE=default"},
			want: `{"cniVersion":"1.0.0","code":7,"details":"K8S_POD_NAME is required in CNI_ARGS","msg":"Invalid Configuration"}`},
		"no Pod namespace": {config: valid, env: []string{"CNI_ARGS=K8S_POD_NAME=p;K8S_POD_NAMESPACE="},
			want: `{"cniVersion":"1.0.0","code":7,"details":"K8S_POD_NAMESPACE is required in CNI_ARGS","msg":"Invalid Configuration"}`},
		"no container": {config: valid, env: []string{"CNI_CONTAINERID="},
			want: `{"cniVersion":"1.0.0","code":4,"details":"","msg":"required env variables [CNI_CONTAINERID] missing"}`},
		"an impossible interface name": {config: valid, env: []string{"CNI_IFNAME=a/b"},
			want: `{"cniVersion":"1.0.0","code":4,"details":"CNI_IFNAME=a/b","msg":"interface name contains / or : or whitespace characters"}`},
		"an interface name of 16 letters": {config: valid, env: []string{"CNI_IFNAME=sixteen-letters-"},
			want: `{"cniVersion":"1.0.0","code":4,"details":"CNI_IFNAME=sixteen-letters- interface name should be less than 16 ` +
				`characters","msg":"interface name is too long"}`},
		"an impossible container": {config: valid, env: []string{"CNI_CONTAINERID=-c1"},
			want: `{"cniVersion":"1.0.0","code":4,"details":"CNI_CONTAINERID=-c1","msg":"invalid characters in containerID"}`},
		"GC without CNI_PATH": {command: "GC", config: macvlan("1.1.0", "/s", ""), env: []string{"CNI_PATH="},
			want: `{"cniVersion":"1.1.0","code":4,"details":"","msg":"required env variables [CNI_PATH] missing"}`},
		"CHECK without prevResult": {command: "CHECK", config: macvlan("1.0.0", "/s", ""),
			want: `{"cniVersion":"1.0.0","code":7,"details":"prevResult is required for CHECK: the result of the ADD",` +
				`"msg":"Invalid Configuration"}`},
		"CHECK with nonsense as prevResult": {command: "CHECK",
			config: with(macvlan("1.0.0", "/s", ""), `"prevResult":{"ips":[{"address":"here"}]}`),
			want:   `{"cniVersion":"1.0.0","code":6,"details":"invalid CIDR address: here","msg":"failed to load prevResult"}`},
		"GC without a list": {command: "GC", config: macvlan("1.1.0", "/s", ""), want: missingList},
		"GC with null as list": {command: "GC", want: missingList,
			config: with(macvlan("1.1.0", "/s", ""), `"cni.dev/valid-attachments":null`)},
		"GC with the list's old name": {command: "GC", want: missingList,
			config: with(macvlan("1.1.0", "/s", ""), `"cni.dev/attachments":[]`)},
		"GC with nonsense as list": {command: "GC",
			config: with(macvlan("1.1.0", "/s", ""), `"cni.dev/valid-attachments":{}`),
			want:   `{"cniVersion":"1.1.0","code":6,"details":"json: cannot unmarshal object into Go struct field `},
		"GC before CNI 1.1.0": {command: "GC", config: valid,
			want: `{"cniVersion":"1.0.0","code":1,"details":"","msg":"config version does not allow GC"}`},
		"an unknown command": {command: "PUT", config: valid,
			want: `{"cniVersion":"1.0.0","code":4,"details":"","msg":"unknown CNI_COMMAND: PUT"}`},
		"its own network namespace": {config: valid, env: []string{"CNI_NETNS=/proc/self/ns/net"},
			want: `{"cniVersion":"1.0.0","code":8,"details":"/proc/self/ns/net","msg":"CNI_NETNS is the plugin's own network namespace"}`},
		"CHECK before CNI 0.4.0": {command: "CHECK", config: macvlan("0.3.1", "/s", ""),
			want: `{"cniVersion":"0.3.1","code":1,"details":"","msg":"config version does not allow CHECK"}`},
		"STATUS before CNI 1.1.0": {command: "STATUS", config: valid,
			want: `{"cniVersion":"1.0.0","code":1,"details":"","msg":"config version does not allow STATUS"}`},
		"DEL without server_socket": {command: "DEL", config: noSocket, want: `{"cniVersion":"0.3.1","code":7,"details":` +
			`"server_socket is required in cni.conf: the path of the node agent's socket","msg":"Invalid Configuration"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.command == "" {
				c.command = "ADD"
			}
			out, exitCode := run(t, c.command, c.config, c.env...)
			if exitCode != 1 || !strings.HasPrefix(out, c.want) {
				t.Errorf("exit %d\n got %s\nwant %s", exitCode, out, c.want)
			}
		})
	}
}

// Byte by byte what Kube-OVN's own plugin sends, which a daemon of theirs would understand.
func TestWireBytes(t *testing.T) {
	const noDevice = `"vf_driver":"","deviceID":"","vhost_user_socket_volume_name":"","vhost_user_socket_name":"",` +
		`"vhost_user_socket_consumption":""`
	const rich = `{"cniVersion":"1.0.0","name":"n","type":"kube-ovn","server_socket":%q,"provider":"n.default.ovn",
		"dns":{"nameservers":["1.1.1.1"],"search":["a.b"]},"routes":[{"dst":"10.0.0.0/8","gw":"10.1.0.1"},{"gw":"10.1.0.2"}],
		"deviceID":"0000:00:01.0","vf_driver":"vfio-pci","vhost_user_socket_volume_name":"v","vhost_user_socket_name":"s",
		"vhost_user_socket_consumption":"c","ipam":{"type":"kube-ovn","server_socket":"/ipam-does-not-count"}}`
	const richDevice = `"deviceID":"0000:00:01.0","vhost_user_socket_volume_name":"v","vhost_user_socket_name":"s",` +
		`"vhost_user_socket_consumption":"c"`
	for name, c := range map[string]struct{ command, config, env, want string }{
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
			want := "POST " + path + " Host=dummy Content-Type=application/json Accept=application/json\n" + c.want
			if got := <-fake.requests; got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

func TestAgentErrors(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		status  int
		body    string
		want    string
	}{
		"ADD refused": {"ADD", 500, `{"ips":null,"error":"no address"}`,
			`{"cniVersion":"1.0.0","code":11,"details":"request ip return 500 no address","msg":"RPC failed"}`},
		"ADD refused for good": {"ADD", 500, `{"error":"data path not available","cni_code":100}`,
			`{"cniVersion":"1.0.0","code":100,"details":"","msg":"data path not available"}`},
		"ADD with a small code, which is the specification's": {"ADD", 500, `{"error":"x","cni_code":3}`,
			`{"cniVersion":"1.0.0","code":11,"details":"request ip return 500 x","msg":"RPC failed"}`},
		"ADD answered by something else": {"ADD", 502, `<html>`,
			`{"cniVersion":"1.0.0","code":11,"details":"request ip return 502 <html>","msg":"RPC failed"}`},
		"ADD answered with nonsense": {"ADD", 200, `{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0"}]}`,
			`{"cniVersion":"1.0.0","code":6,"details":"address \"10.0.0.2\" in subnet \"10.0.0.0\"",` +
				`"msg":"the node agent's answer makes no CNI result"}`},
		"CHECK that finds a difference": {"CHECK", 500, `{"error":"it differs","cni_code":101}`,
			`{"cniVersion":"1.1.0","code":101,"details":"","msg":"it differs"}`},
		"CHECK that can't be done": {"CHECK", 500, `{"error":"later"}`,
			`{"cniVersion":"1.1.0","code":11,"details":"check return 500 later","msg":"RPC failed"}`},
		"GC that can't be done": {"GC", 500, `{"error":"1 of 3"}`,
			`{"cniVersion":"1.1.0","code":11,"details":"gc return 500 1 of 3","msg":"RPC failed"}`},
		"STATUS without an allocator": {"STATUS", 500, `{"error":"etcd is away"}`,
			`{"cniVersion":"1.1.0","code":50,"details":"status return 500 etcd is away","msg":"ipledger is not available"}`},
		"STATUS refused for good": {"STATUS", 500, `{"error":"no","cni_code":100}`,
			`{"cniVersion":"1.1.0","code":50,"details":"no","msg":"ipledger is not available"}`},
		"DEL refused": {"DEL", 500, `{"error":"later"}`,
			`{"cniVersion":"1.0.0","code":11,"details":"delete ip return 500 {\"error\":\"later\"}","msg":"RPC failed"}`},
	} {
		t.Run(name, func(t *testing.T) {
			config := macvlan("1.0.0", startAgent(t, c.status, c.body).socket, "")
			if c.command != "ADD" && c.command != "DEL" {
				config = with(strings.Replace(config, "1.0.0", "1.1.0", 1), `"prevResult":{},"cni.dev/valid-attachments":[]`)
			}
			out, exitCode := run(t, c.command, config)
			if exitCode != 1 || compact(t, out) != compact(t, c.want) {
				t.Errorf("exit %d\n got %s\nwant %s", exitCode, out, c.want)
			}
		})
	}
}

func TestNoAgent(t *testing.T) {
	folder := t.TempDir()
	socket, journal := filepath.Join(folder, "s"), filepath.Join(folder, "journal")
	config, inJournal := macvlan("1.0.0", socket, ""), journalVariable+"="+journal

	out, exitCode := run(t, "ADD", config)
	want := fmt.Sprintf(`{"cniVersion":"1.0.0","code":11,"details":"request ip: dial unix %s: connect: no such file or `+
		`directory: is the node agent running?","msg":"RPC failed"}`, socket)
	if exitCode != 1 || strings.TrimSpace(out) != want {
		t.Errorf("ADD: exit %d\n got %s\nwant %s", exitCode, out, want)
	}

	out, exitCode = run(t, "STATUS", strings.Replace(config, "1.0.0", "1.1.0", 1))
	if exitCode != 1 || !strings.Contains(out, `"code":50,`) || !strings.Contains(out, "is the node agent running?") {
		t.Errorf("STATUS: exit %d, %s", exitCode, out)
	}

	for range 2 { // a repeated DEL leaves no second file
		if out, exitCode := run(t, "DEL", config, inJournal); exitCode != 0 || out != "" {
			t.Fatalf("DEL: exit %d, %s", exitCode, out)
		}
	}
	entry, err := os.ReadFile(filepath.Join(journal, "c1@net1.json"))
	if err != nil {
		t.Fatal(err)
	}
	var left struct {
		Socket  string     `json:"server_socket"`
		Request cniRequest `json:"request"`
	}
	if err := json.Unmarshal(entry, &left); err != nil || left.Socket != socket || left.Request.ContainerID != "c1" ||
		left.Request.Provider != "macvlan.default" {
		t.Errorf("%v in %s", err, entry)
	}
	if files, _ := os.ReadDir(journal); len(files) != 1 {
		t.Errorf("%d files in the journal", len(files))
	}

	blocked := journalVariable + "=/dev/null/journal"
	if out, exitCode := run(t, "DEL", config, blocked); exitCode != 1 || !strings.Contains(out, "/dev/null/journal") {
		t.Errorf("DEL that can't leave its request: exit %d, %s", exitCode, out)
	}
}

// An agent that dies over a DEL has perhaps not seen it.
func TestAgentDiesOverDEL(t *testing.T) {
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
	config, journal := macvlan("1.0.0", filepath.Join(folder, "s"), ""), filepath.Join(folder, "journal")
	if out, exitCode := run(t, "DEL", config, journalVariable+"="+journal); exitCode != 0 {
		t.Errorf("exit %d, %s", exitCode, out)
	}
	if _, err := os.Stat(filepath.Join(journal, "c1@net1.json")); err != nil {
		t.Error(err)
	}
}

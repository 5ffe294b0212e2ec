package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The CNI specification requires the request's cniVersion in the response.
func TestVersionAnswersInTheRequestsCNIVersion(t *testing.T) {
	const supported = `"supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}`
	for request, expected := range map[string]string{
		`{"cniVersion":"1.1.0"}`: "1.1.0", `{"cniVersion":"0.4.0"}`: "0.4.0", `{"cniVersion":"9.0.0"}`: "1.1.0", `{}`: "1.1.0",
		``: "1.1.0", macvlan("0.3.1", "/s", ""): "1.1.0",
	} {
		out, exitCode := run(t, "VERSION", request, "CNI_CONTAINERID=", "CNI_NETNS=", "CNI_IFNAME=", "CNI_ARGS=", "CNI_PATH=")
		if answer := `{"cniVersion":"` + expected + `",` + supported; strings.TrimSpace(out) != answer || exitCode != 0 {
			t.Errorf("%s: exit %d, %s", request, exitCode, out)
		}
	}
}

func TestUnreadableStdinIsAnIOFailure(t *testing.T) {
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plugin := exec.Command(os.Args[0])
	plugin.Env, plugin.Stdin = []string{bePlugin + "=1", "CNI_COMMAND=STATUS"}, folder
	out, _ := plugin.Output()
	if !strings.Contains(string(out), `"code":5,`) || plugin.ProcessState.ExitCode() != 1 {
		t.Errorf("%s", out)
	}
}

func TestCNIPathIsOptional(t *testing.T) {
	fake := startAgent(t, 200, `{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0/24"}]}`)
	if out, exitCode := run(t, "ADD", macvlan("1.0.0", fake.socket, ""), "CNI_PATH="); exitCode != 0 {
		t.Errorf("exit %d, %s", exitCode, out)
	}
}

func TestCheckGCAndStatusSendKubeOVNsFormat(t *testing.T) {
	const prevResult = `"prevResult":{"cniVersion":"1.1.0","ips":[{"address":"172.17.0.11/16"},{"address":"FD00::0B/64"}]}`
	const valid = `"cni.dev/valid-attachments":[{"containerID":"c1","ifname":"net1"}],"cni.dev/attachments":[]`
	for name, c := range map[string]struct{ command, field, request string }{
		"CHECK": {"CHECK", prevResult, `/api/v1/check|{"cni_type":"macvlan","pod_name":"p","pod_namespace":"default",` +
			`"container_id":"c1","net_ns":"/ns","if_name":"net1","provider":"macvlan.default","routes":null,"dns":{},` +
			`"vf_driver":"","deviceID":"","vhost_user_socket_volume_name":"","vhost_user_socket_name":"",` +
			`"vhost_user_socket_consumption":"","addresses":["172.17.0.11/16","fd00::b/64"]}`},
		"GC": {"GC", valid, `/api/v1/gc|{"cni_type":"macvlan","provider":"macvlan.default",` +
			`"attachments":[{"container_id":"c1","if_name":"net1"}]}`},
		"GC with an empty list": {"GC", `"cni.dev/valid-attachments":[]`, `/api/v1/gc|{"cni_type":"macvlan",` +
			`"provider":"macvlan.default","attachments":[]}`},
		"STATUS": {"STATUS", `"x":0`, `/api/v1/status|{"cni_type":"macvlan","provider":"macvlan.default"}`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, status := range []int{204, 404} { // Kube-OVN's daemon has none of these paths
				fake := startAgent(t, status, "")
				out, exitCode := run(t, c.command, with(macvlan("1.1.0", fake.socket, ""), c.field))
				if out != "" || exitCode != 0 {
					t.Errorf("%d: exit %d, %q", status, exitCode, out)
				}
				path, body, _ := strings.Cut(c.request, "|")
				expected := "POST " + path + " Host=dummy Content-Type=application/json Accept=application/json\n" + body
				if got := <-fake.requests; got != expected {
					t.Errorf("\n got %s\nwant %s", got, expected)
				}
			}
		})
	}
}

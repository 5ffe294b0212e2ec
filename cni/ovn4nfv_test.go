package main

import (
	"fmt"
	"strings"
	"testing"
)

// Configurations of OVN4NFV name neither provider nor agent, and the document's has no cniVersion.
func TestConfigurationsOfOvn4nfvHaveTheirProvider(t *testing.T) {
	for kind, more := range map[string]string{
		"ovn-k8s-cni-overlay": "",
		"ovn4nfvk8s-cni":      `,"provider":"other","nfn-network":"ovn-priv-net","ipam":{"type":"other","server_socket":"/nowhere"}`,
	} {
		t.Run(kind, func(t *testing.T) {
			agent := startAgent(t, 204, "")
			config := fmt.Sprintf(`{"name":"ovn-kubernetes","type":%q,"server_socket":%q%s}`, kind, agent.socket, more)
			if out, exitCode := run(t, "DEL", config); exitCode != 0 {
				t.Fatal(out)
			}
			request := <-agent.requests
			for _, expected := range []string{
				"POST /api/v1/del", fmt.Sprintf(`"cni_type":%q`, kind), `"provider":"ovn4nfv.kube-system.ovn"`, `"if_name":"net1"`,
			} {
				if !strings.Contains(request, expected) {
					t.Errorf("%s is not in %s", expected, request)
				}
			}
			if got := strings.Contains(request, `"nfn_network":"ovn-priv-net"`); got != (more != "") {
				t.Errorf("nfn_network: %s", request)
			}
		})
	}
}

func TestOvn4nfvUsesTheDefaultSocket(t *testing.T) {
	conf, err := parseAgentConf([]byte(`{"name":"ovn-kubernetes","type":"ovn-k8s-cni-overlay"}`))
	if err != nil || conf.ServerSocket != "/run/openvswitch/kube-ovn-daemon.sock" {
		t.Errorf("%+v, %v", conf, err)
	}
}

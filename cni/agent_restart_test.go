package main

// Tests an ADD while the agent of its socket is replaced.

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const oneAddress = `{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0/24"}]}`

// serve answers the next connection with each of the texts. It removes the socket after the last one.
func serve(t *testing.T, socket string, responses ...string) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Error(err)
		return
	}
	defer listener.Close()
	for _, response := range responses {
		connection, err := listener.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		connection.Read(make([]byte, 4096))
		io.WriteString(connection, response)
		connection.Close()
	}
}

const success = "HTTP/1.1 200 OK\r\n\r\n" + oneAddress

func expectAddress(t *testing.T, out string, exitCode int) {
	t.Helper()
	if exitCode != 0 || !strings.Contains(out, "10.0.0.2/24") {
		t.Errorf("exit %d: %s", exitCode, out)
	}
}

// The socket appears after more than the two seconds that other commands wait.
func TestADDWaitsForAnAgentThatStartsLate(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	go func() {
		time.Sleep(shortWait + time.Second/2)
		serve(t, socket, success)
	}()
	out, exitCode := run(t, "ADD", macvlan("1.0.0", socket, ""))
	expectAddress(t, out, exitCode)
}

func TestADDGoesToTheNextAgent(t *testing.T) {
	for name, ending := range map[string]string{
		"when the agent is being stopped":               "HTTP/1.1 503 X\r\n\r\n" + `{"error":"the node agent is being stopped"}`,
		"when the agent ends without a response":        "",
		"when the agent ends in the middle of one":      "HTTP/1",
		"when the agent ends in the middle of the body": "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n" + oneAddress,
	} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "s")
			go func() {
				serve(t, socket, ending)
				serve(t, socket, success)
			}()
			out, exitCode := run(t, "ADD", macvlan("1.0.0", socket, ""))
			expectAddress(t, out, exitCode)
		})
	}
}

func TestADDEndsWithTheLastCause(t *testing.T) {
	for name, c := range map[string]struct{ response, expected string }{
		"of an agent that is being stopped": {"HTTP/1.1 503 X\r\n\r\n" + `{"error":"being stopped"}`, "request ip return 503 being stopped"},
		"of an agent that is killed":        {"", "request ip: no HTTP response: \\\"\\\": EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "s")
			go serve(t, socket, c.response)
			out, exitCode := run(t, "ADD", macvlan("1.0.0", socket, ""), addWaitVariable+"=0")
			if expected := fmt.Sprintf(`"details":"%s"`, c.expected); exitCode != 1 || !strings.Contains(out, expected) {
				t.Errorf("exit %d\n got %s\nwant %s", exitCode, out, expected)
			}
		})
	}
}

// A network's configuration may name any socket, so a Pod of that network must not keep a process of the node for a minute.
func TestADDWaitsOnlyWhereAnAgentMayAppear(t *testing.T) {
	existing := t.TempDir()
	for _, c := range []struct {
		socket, variable string
		expected         time.Duration
	}{
		{filepath.Join(existing, "s"), "", defaultAddWait},
		{"/run/openvswitch/kube-ovn-daemon.sock", "", defaultAddWait},
		{filepath.Join(existing, "s"), "7", 7 * time.Second},
		{filepath.Join(existing, "s"), "0", 0},
		{filepath.Join(existing, "s"), "soon", defaultAddWait},
		{filepath.Join(existing, "s"), "-1", defaultAddWait},
		{filepath.Join(existing, "absent", "s"), "", shortWait},
		{filepath.Join(existing, "absent", "s"), "7", shortWait},
	} {
		t.Setenv(addWaitVariable, c.variable)
		if c.variable == "" {
			os.Unsetenv(addWaitVariable)
		}
		if got := addWait(c.socket); got != c.expected {
			t.Errorf("%s with %q: %v, expected %v", c.socket, c.variable, got, c.expected)
		}
	}
}

// A tenant writes the configuration, the node's administrator the environment. An untrusted socket is not tried again.
func TestADDDoesNotWaitForAnUntrustedSocket(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, exitCode := run(t, "ADD", macvlan("1.0.0", file, ""), addWaitVariable+"=65535") // longer than the limit of the tests
	if exitCode != 1 || !strings.Contains(out, "is no unix socket") {
		t.Errorf("exit %d: %s", exitCode, out)
	}
}

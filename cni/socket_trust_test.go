package main

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// If this variable is set, the test binary listens on the unix socket that it names, and ends with its stdin.
const beListener = "IPLEDGER_TEST_BE_LISTENER"

func listenForever(path string) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString("listening\n")
	bufio.NewReader(os.Stdin).ReadByte()
	listener.Close()
}

// A tenant may write the NetworkAttachmentDefinition that names the socket.
func TestRequestsGoToASocketOfRootOnly(t *testing.T) {
	for name, c := range map[string]struct {
		make     func(t *testing.T, socket string) string // returns the path that the configuration names
		expected string
	}{
		"a file": {func(t *testing.T, socket string) string {
			path := filepath.Join(filepath.Dir(socket), "file")
			must(t, os.WriteFile(path, nil, 0o600))
			return path
		}, "is no unix socket"},
		"a symbolic link": {func(t *testing.T, socket string) string {
			path := filepath.Join(filepath.Dir(socket), "link")
			must(t, os.Symlink(socket, path))
			return path
		}, "is no unix socket"},
		"an abstract socket": {func(*testing.T, string) string { return "@ipledger-test" }, "is no absolute path"},
		"a relative path":    {func(*testing.T, string) string { return "s" }, "is no absolute path"},
		"a socket of another user": {func(t *testing.T, socket string) string {
			must(t, os.Chown(socket, 65534, 65534))
			return socket
		}, "is owned by user 65534"},
		"a folder in which every user may replace files": {func(t *testing.T, socket string) string {
			must(t, os.Chmod(filepath.Dir(socket), 0o777))
			return socket
		}, "in which every user may replace files"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := startAgent(t, 200, `{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0/24"}]}`)
			path := c.make(t, fake.socket)
			out, exitCode := run(t, "ADD", macvlan("1.0.0", path, ""))
			if exitCode != 1 || !strings.Contains(out, `"code":11,`) || !strings.Contains(out, c.expected) ||
				!strings.Contains(out, "name the node agent's socket, which root owns") {
				t.Errorf("exit %d, %s", exitCode, out)
			}
			if len(fake.requests) > 0 {
				t.Error("the request was sent")
			}
		})
	}
}

func TestRequestsGoToAProcessOfRootOnly(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a socket away")
	}
	folder, err := os.MkdirTemp("/tmp", "ipledger-peer-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	must(t, os.Chmod(folder, 0o711))
	inner := filepath.Join(folder, "run")
	must(t, os.Mkdir(inner, 0o755))
	must(t, os.Chown(inner, 65534, 65534))
	socket := filepath.Join(inner, "s")
	binary, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "listener"), binary, 0o755))
	listener := exec.Command(filepath.Join(folder, "listener"))
	listener.Env = []string{beListener + "=" + socket}
	listener.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	stdin, _ := listener.StdinPipe()
	stdout, _ := listener.StdoutPipe()
	must(t, listener.Start())
	defer func() { stdin.Close(); listener.Wait() }()
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	must(t, os.Chown(socket, 0, 0)) // as if the file were replaced between the check and the connection
	out, exitCode := run(t, "ADD", macvlan("1.0.0", socket, ""))
	if exitCode != 1 || !strings.Contains(out, "is served by user 65534") {
		t.Errorf("exit %d, %s", exitCode, out)
	}
}

// /var/run is a symbolic link on every distribution.
func TestRequestsGoToASocketInALinkedFolder(t *testing.T) {
	fake := startAgent(t, 200, `{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0/24"}]}`)
	link := filepath.Join(t.TempDir(), "run")
	must(t, os.Symlink(filepath.Dir(fake.socket), link))
	if out, exitCode := run(t, "ADD", macvlan("1.0.0", filepath.Join(link, "s"), "")); exitCode != 0 {
		t.Errorf("exit %d, %s", exitCode, out)
	}
}

// Root in a container is root for the kernel, too: only the path shows that a socket is a container's.
func TestRequestsGoToNoSocketOfAContainer(t *testing.T) {
	volume := filepath.Join(t.TempDir(), "pods", "u", "volumes", "kubernetes.io~empty-dir")
	must(t, os.MkdirAll(volume, 0o755))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(volume, link))
	const answer = `{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0/24"}]}`
	for name, c := range map[string]struct{ path, expected string }{
		"through the root of a process":   {"/proc/self/root", "is below /proc, where containers have files"},
		"in a volume":                     {volume, "is in a volume of a Pod"},
		"in a volume, through a link":     {link, "is in a volume of a Pod"},
		"in kubelet's folder":             {"/var/lib/kubelet/device-plugins", "is below /var/lib/kubelet, where containers have files"},
		"in a container's file system":    {"/run/containerd/x/rootfs", "is below /run/containerd, where containers have files"},
		"in kubelet's folder, through ..": {"/run/../var/lib/kubelet/pods", "is below /var/lib/kubelet, where containers have files"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := startAgent(t, 200, answer)
			path := filepath.Join(c.path, "s")
			if c.path == "/proc/self/root" {
				path = c.path + fake.socket
			} else if _, err := os.Stat(c.path); err == nil {
				must(t, os.Rename(fake.socket, path))
			}
			if strings.HasPrefix(c.path, "/run/..") {
				path = c.path + "/s"
			}
			out, exitCode := run(t, "ADD", macvlan("1.0.0", path, ""))
			if exitCode != 1 || !strings.Contains(out, c.expected) || len(fake.requests) > 0 {
				t.Errorf("exit %d, %d requests, %s", exitCode, len(fake.requests), out)
			}
		})
	}
}

func TestRequestsGoOnlyToFoldersThatTheNodeNames(t *testing.T) {
	fake := startAgent(t, 200, `{"ips":[{"ip":"10.0.0.2","cidr":"10.0.0.0/24"}]}`)
	folder, link := filepath.Dir(fake.socket), filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(folder, link))
	const elsewhere = "is in none of the folders of IPLEDGER_SOCKET_DIRS"
	for name, c := range map[string]struct{ folders, path, expected string }{
		"the folder":                    {"/run/x:" + folder, folder, ""},
		"the folder with a final slash": {folder + "/", folder, ""},
		"a link that the node names":    {link, folder, ""},
		"a link to the folder":          {folder, link, ""},
		"another folder":                {"/run/x:/run/y", folder, elsewhere},
		"a parent folder":               {filepath.Dir(folder), folder, elsewhere},
		"a folder that is absent":       {folder, "/nonexistent", elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			out, exitCode := run(t, "ADD", macvlan("1.0.0", filepath.Join(c.path, "s"), ""), socketFoldersVariable+"="+c.folders)
			if (exitCode == 0) != (c.expected == "") || !strings.Contains(out, c.expected) {
				t.Errorf("exit %d, %s", exitCode, out)
			}
		})
	}
}

func TestInputHasLimits(t *testing.T) {
	fake := startAgent(t, 500, strings.Repeat("x", 100_000))
	valid := macvlan("1.0.0", fake.socket, "")
	for name, c := range map[string]struct {
		config   string
		env      []string
		expected string
	}{
		"a configuration": {config: with(valid, `"x":"`+strings.Repeat("x", maxConfigBytes)+`"`), expected: `"code":7,`},
		"CNI_ARGS": {config: valid, env: []string{"CNI_ARGS=" + podArgs + ";X=" + strings.Repeat("x", maxArgsBytes)},
			expected: "CNI_ARGS has "},
		"a container ID": {config: valid, env: []string{"CNI_CONTAINERID=" + strings.Repeat("c", 129)},
			expected: "CNI_CONTAINERID has 129 bytes; the limit is 128"},
		"the agent's error": {config: valid, expected: `xxx…"`},
	} {
		t.Run(name, func(t *testing.T) {
			out, exitCode := run(t, "ADD", c.config, c.env...)
			if exitCode != 1 || !strings.Contains(out, c.expected) || len(out) > 4_000 {
				t.Errorf("exit %d, %d bytes: %.300s", exitCode, len(out), out)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

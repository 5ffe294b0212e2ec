package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A tenant may write the configuration, and the plugin runs as root, so the configuration must not name the folder.
func TestDELIsNotSavedInAFolderThatTheConfigurationNames(t *testing.T) {
	folder := t.TempDir()
	pending, named := filepath.Join(folder, "pending"), filepath.Join(folder, "named")
	config := macvlan("1.0.0", filepath.Join(folder, "s"), fmt.Sprintf(`,"journal":%q`, named))
	config = with(config, fmt.Sprintf(`"journal":%q`, named))
	if out, exitCode := run(t, "DEL", config, pendingDelsVariable+"="+pending); exitCode != 0 {
		t.Errorf("exit %d, %s", exitCode, out)
	}
	if _, err := os.Lstat(named); err == nil {
		t.Error("the DEL was saved in the configuration's folder")
	}
	if _, err := os.Lstat(filepath.Join(pending, "c1@net1.json")); err != nil {
		t.Error(err)
	}
}

// A tenant's configuration could fill the folder, so that the DELs of other Pods fail.
func TestDELForASocketThatNoAgentServesIsNotSaved(t *testing.T) {
	for name, socket := range map[string]string{
		"a file": "/etc/passwd", "below a file": "/etc/passwd/s", "a relative path": "run/s", "an abstract socket": "@s",
		"a folder that is absent": "/nonexistent/s", "a volume": "/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/x/s",
		"a container's files": "/proc/1/root/run/s",
	} {
		t.Run(name, func(t *testing.T) {
			pending := filepath.Join(t.TempDir(), "pending")
			out, exitCode := run(t, "DEL", macvlan("1.0.0", socket, ""), pendingDelsVariable+"="+pending)
			if exitCode != 0 || out != "" {
				t.Errorf("exit %d, %s", exitCode, out)
			}
			if _, err := os.Lstat(pending); err == nil {
				t.Error("a DEL was saved")
			}
		})
	}
}

// The agent makes its folder when it starts: /run is empty when a node boots.
func TestDELForAnAbsentAgentIsSaved(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct{ socket, folders string }{
		"in a folder that exists":         {filepath.Join(folder, "s"), ""},
		"in a folder that the node names": {filepath.Join(folder, "run", "s"), "/run/other:" + filepath.Join(folder, "run") + "/"},
		"in a default folder":             {"/run/ipledger/ipledger-test-of-an-absent-agent.sock", ""},
	} {
		t.Run(name, func(t *testing.T) {
			pending := filepath.Join(t.TempDir(), "pending")
			env := []string{pendingDelsVariable + "=" + pending, socketFoldersVariable + "=" + c.folders}
			if out, exitCode := run(t, "DEL", macvlan("1.0.0", c.socket, ""), env...); exitCode != 0 || out != "" {
				t.Errorf("exit %d, %s", exitCode, out)
			}
			if _, err := os.Lstat(filepath.Join(pending, "c1@net1.json")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A configuration may contain megabytes that a DEL does not need.
func TestDELSavesOnlyTheFieldsThatTheAgentNeeds(t *testing.T) {
	folder := t.TempDir()
	config := with(macvlan("1.0.0", filepath.Join(folder, "s"), ""), `"deviceID":"`+strings.Repeat("x", 60_000)+`"`)
	if out, exitCode := run(t, "DEL", config, pendingDelsVariable+"="+folder, "CNI_NETNS=/ns"); exitCode != 0 {
		t.Errorf("exit %d, %s", exitCode, out)
	}
	content, err := os.ReadFile(filepath.Join(folder, "c1@net1.json"))
	expected := fmt.Sprintf(`{"request":{"cni_type":"macvlan","pod_name":"p","pod_namespace":"default","container_id":"c1",`+
		`"net_ns":"/ns","if_name":"net1","provider":"macvlan.default"},"server_socket":%q}`, filepath.Join(folder, "s"))
	if err != nil || string(content) != expected {
		t.Errorf("%v\n got %.400s\nwant %s", err, content, expected)
	}
}

func TestPendingDelsFolderThatAnotherUserMayWriteIsRejected(t *testing.T) {
	folder := t.TempDir()
	for name, make := range map[string]func(path string) error{
		"writable by its group":  func(path string) error { return orElse(os.Mkdir(path, 0o700), os.Chmod(path, 0o770)) },
		"writable by every user": func(path string) error { return orElse(os.Mkdir(path, 0o700), os.Chmod(path, 0o1777)) },
		"owned by another user":  func(path string) error { return orElse(os.Mkdir(path, 0o700), os.Chown(path, 65534, 0)) },
		"a symbolic link":        func(path string) error { return os.Symlink(folder, path) },
		"a file":                 func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a relative path":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			path := "relative"
			if make != nil {
				path = filepath.Join(folder, strings.ReplaceAll(name, " ", "-"))
				if err := make(path); err != nil {
					t.Skip(err)
				}
			}
			t.Setenv(pendingDelsVariable, path)
			err := savePendingDel(&cniRequest{delRequest: delRequest{ContainerID: "c1", IfName: "net1"}}, "/s", os.ErrClosed)
			if err == nil || !strings.Contains(fmt.Sprint(err), "cannot save the DEL in "+path) {
				t.Error(err)
			}
		})
	}
}

func orElse(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

func TestPendingDelsHaveLimits(t *testing.T) {
	pending := t.TempDir()
	request := &cniRequest{delRequest: delRequest{ContainerID: "c1", IfName: "net1"}}
	t.Setenv(pendingDelsVariable, pending)
	request.Provider = strings.Repeat("x", maxPendingDelBytes)
	if err := savePendingDel(request, "/s", os.ErrClosed); err == nil || !strings.Contains(fmt.Sprint(err), "the limit is") {
		t.Errorf("a request that is too large: %v", err)
	}
	request.Provider = "a.b"
	for file := range maxPendingDels {
		if err := os.WriteFile(filepath.Join(pending, fmt.Sprintf("b%d@net1.json", file)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := savePendingDel(request, "/s", os.ErrClosed); err == nil || !strings.Contains(fmt.Sprint(err), "start the node agent") {
		t.Errorf("a full folder: %v", err)
	}
	request.ContainerID = "b7"
	if err := savePendingDel(request, "/s", os.ErrClosed); err != nil {
		t.Errorf("a DEL that is saved already: %v", err)
	}
}

func TestDELThatCannotBeWrittenLeavesNoDraft(t *testing.T) {
	pending, request := t.TempDir(), &cniRequest{delRequest: delRequest{ContainerID: "c1", IfName: "net1"}}
	t.Setenv(pendingDelsVariable, pending)
	if err := os.Mkdir(filepath.Join(pending, "c1@net1.json"), 0o700); err != nil { // no file can get this name
		t.Fatal(err)
	}
	if err := savePendingDel(request, "/s", os.ErrClosed); err == nil {
		t.Error("no error")
	}
	if files, _ := os.ReadDir(pending); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

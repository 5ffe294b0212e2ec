package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The journal that a configuration names is not written: its author may be a tenant, and the plugin is root.
func TestDELWritesNoFileThatAConfigurationNames(t *testing.T) {
	folder := t.TempDir()
	journal, named := filepath.Join(folder, "journal"), filepath.Join(folder, "named")
	config := macvlan("1.0.0", filepath.Join(folder, "s"), fmt.Sprintf(`,"journal":%q`, named))
	config = with(config, fmt.Sprintf(`"journal":%q`, named))
	if out, exitCode := run(t, "DEL", config, journalVariable+"="+journal); exitCode != 0 {
		t.Errorf("exit %d, %s", exitCode, out)
	}
	if _, err := os.Lstat(named); err == nil {
		t.Error("a file was written where the configuration says")
	}
	if _, err := os.Lstat(filepath.Join(journal, "c1@net1.json")); err != nil {
		t.Error(err)
	}
}

// A tenant's configuration would fill the journal, and the DELs of others would be refused.
func TestDELForASocketThatNoAgentHasLeavesNoFile(t *testing.T) {
	for name, socket := range map[string]string{
		"a file": "/etc/passwd", "below a file": "/etc/passwd/s", "a relative path": "run/s", "an abstract socket": "@s",
		"a folder that is absent": "/nonexistent/s", "a volume": "/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/x/s",
		"a container's files": "/proc/1/root/run/s",
	} {
		t.Run(name, func(t *testing.T) {
			journal := filepath.Join(t.TempDir(), "journal")
			out, exitCode := run(t, "DEL", macvlan("1.0.0", socket, ""), journalVariable+"="+journal)
			if exitCode != 0 || out != "" {
				t.Errorf("exit %d, %s", exitCode, out)
			}
			if _, err := os.Lstat(journal); err == nil {
				t.Error("a file was left")
			}
		})
	}
}

// The agent may come, and make its folder: on a node that has just booted /run is empty.
func TestDELForAnAgentThatIsAwayIsLeft(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct{ socket, folders string }{
		"in a folder that is there":             {filepath.Join(folder, "s"), ""},
		"in a folder that the node names":       {filepath.Join(folder, "run", "s"), "/run/other:" + filepath.Join(folder, "run") + "/"},
		"in a folder that agents are known for": {"/run/ipledger/ipledger-test-of-an-absent-agent.sock", ""},
	} {
		t.Run(name, func(t *testing.T) {
			journal := filepath.Join(t.TempDir(), "journal")
			env := []string{journalVariable + "=" + journal, foldersVariable + "=" + c.folders}
			if out, exitCode := run(t, "DEL", macvlan("1.0.0", c.socket, ""), env...); exitCode != 0 || out != "" {
				t.Errorf("exit %d, %s", exitCode, out)
			}
			if _, err := os.Lstat(filepath.Join(journal, "c1@net1.json")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A configuration may have megabytes that no DEL needs.
func TestDELLeavesOnlyWhatTheAgentNeeds(t *testing.T) {
	folder := t.TempDir()
	config := with(macvlan("1.0.0", filepath.Join(folder, "s"), ""), `"deviceID":"`+strings.Repeat("x", 60_000)+`"`)
	if out, exitCode := run(t, "DEL", config, journalVariable+"="+folder, "CNI_NETNS=/ns"); exitCode != 0 {
		t.Errorf("exit %d, %s", exitCode, out)
	}
	entry, err := os.ReadFile(filepath.Join(folder, "c1@net1.json"))
	want := fmt.Sprintf(`{"request":{"cni_type":"macvlan","pod_name":"p","pod_namespace":"default","container_id":"c1",`+
		`"net_ns":"/ns","if_name":"net1","provider":"macvlan.default"},"server_socket":%q}`, filepath.Join(folder, "s"))
	if err != nil || string(entry) != want {
		t.Errorf("%v\n got %.400s\nwant %s", err, entry, want)
	}
}

func TestJournalThatOthersMayWriteIsRefused(t *testing.T) {
	folder := t.TempDir()
	for name, make := range map[string]func(path string) error{
		"writable by its group":   func(path string) error { return orElse(os.Mkdir(path, 0o700), os.Chmod(path, 0o770)) },
		"writable by every user":  func(path string) error { return orElse(os.Mkdir(path, 0o700), os.Chmod(path, 0o1777)) },
		"owned by another user":   func(path string) error { return orElse(os.Mkdir(path, 0o700), os.Chown(path, 65534, 0)) },
		"a symbolic link":         func(path string) error { return os.Symlink(folder, path) },
		"a file":                  func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a path without a root /": nil,
	} {
		t.Run(name, func(t *testing.T) {
			path := "relative"
			if make != nil {
				path = filepath.Join(folder, strings.ReplaceAll(name, " ", "-"))
				if err := make(path); err != nil {
					t.Skip(err)
				}
			}
			t.Setenv(journalVariable, path)
			failed := leave(&cniRequest{ContainerID: "c1", IfName: "net1"}, "/s", os.ErrClosed)
			if failed == nil || !strings.Contains(fmt.Sprint(failed), "it cannot be left in "+path) {
				t.Error(failed)
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

func TestJournalHasLimits(t *testing.T) {
	journal := t.TempDir()
	request := &cniRequest{ContainerID: "c1", IfName: "net1"}
	t.Setenv(journalVariable, journal)
	request.Provider = strings.Repeat("x", mostEntry)
	if err := leave(request, "/s", os.ErrClosed); err == nil || !strings.Contains(fmt.Sprint(err), "may have") {
		t.Errorf("a request that is too large: %v", err)
	}
	request.Provider = "a.b"
	for file := range mostLeft {
		if err := os.WriteFile(filepath.Join(journal, fmt.Sprintf("b%d@net1.json", file)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := leave(request, "/s", os.ErrClosed); err == nil || !strings.Contains(fmt.Sprint(err), "start the node agent") {
		t.Errorf("a full journal: %v", err)
	}
	request.ContainerID = "b7"
	if err := leave(request, "/s", os.ErrClosed); err != nil {
		t.Errorf("a DEL that is there already: %v", err)
	}
}

// What could not be written whole takes the place of nothing, and is not left lying about.
func TestHalfWrittenDEL(t *testing.T) {
	journal, request := t.TempDir(), &cniRequest{ContainerID: "c1", IfName: "net1"}
	t.Setenv(journalVariable, journal)
	if err := os.Mkdir(filepath.Join(journal, "c1@net1.json"), 0o700); err != nil { // no file can get this name
		t.Fatal(err)
	}
	if err := leave(request, "/s", os.ErrClosed); err == nil {
		t.Error("it was taken for written")
	}
	if files, _ := os.ReadDir(journal); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

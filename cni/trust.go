package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A configuration names the socket, and its author may be a tenant. So the plugin sends a request only to a process of
// root (or of the user that runs the plugin), by a path that no other user can change, and outside of what containers write.

// foldersVariable names the folders in which the node's agents listen, joined with colons, in the environment of the runtime.
// Where it is set, the plugin connects to no socket elsewhere.
const foldersVariable = "IPLEDGER_SOCKET_DIRS"

// usualFolders are those of the agents on a node that names none. One that is absent is made by the agent when it starts.
const usualFolders = "/run/openvswitch:/var/run/openvswitch:/run/ipledger"

// foreignFolders hold the files of containers: there a socket that root owns may be that of a tenant's container.
var foreignFolders = []string{
	"/proc", "/var/lib/kubelet", "/run/containerd", "/var/lib/containerd", "/run/containers", "/var/lib/containers",
	"/run/docker", "/var/lib/docker", "/run/k3s/containerd",
}

// volumeMark begins a folder's name in each volume of a Pod, wherever kubelet's root is.
const volumeMark = "kubernetes.io~"

// untrusted is why no request is sent to a socket.
type untrusted struct{ error }

func isUntrusted(err error) bool { return errors.As(err, new(untrusted)) }

// isAway reports whether a later attempt may reach the agent.
func isAway(err error) bool { return err != nil && !isUntrusted(err) }

// dial connects to the agent's socket. It returns untrusted for a socket that may not be the agent's.
func dial(path string) (net.Conn, error) {
	resolved, err := trustSocket(path)
	if errors.Is(err, os.ErrNotExist) {
		address := &net.UnixAddr{Name: path, Net: "unix"}
		return nil, &net.OpError{Op: "dial", Net: "unix", Addr: address, Err: os.NewSyscallError("connect", syscall.ENOENT)}
	}
	if err != nil {
		return nil, untrusted{fmt.Errorf("server_socket %q %w: name the node agent's socket, which root owns", path, err)}
	}
	connection, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: resolved, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := trustPeer(connection); err != nil {
		connection.Close()
		return nil, untrusted{fmt.Errorf("server_socket %q %w: run the node agent as root", path, err)}
	}
	return connection, nil
}

// mayCome reports whether an agent may listen at a trusted path later: its folder is there, or is one that agents make.
func mayCome(path string) bool {
	folder := filepath.Dir(filepath.Clean(path))
	_, err := os.Stat(folder)
	named := filepath.SplitList(cmp.Or(os.Getenv(foldersVariable), usualFolders))
	return err == nil || slices.ContainsFunc(named, func(one string) bool { return filepath.Clean(one) == folder })
}

// trustSocket returns the path without symbolic links, which is the one to connect to. It returns os.ErrNotExist for a
// socket that is absent and breaks no rule, else why no request is sent there.
func trustSocket(path string) (string, error) {
	if !filepath.IsAbs(path) { // also an abstract socket, which no file protects
		return "", errors.New("is no absolute path")
	}
	path = filepath.Clean(path)
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if refused := trustPlace(filepath.Dir(path), folder); refused != nil {
		return "", refused
	}
	if err != nil {
		return "", err
	}
	if err := trustFolders(folder); err != nil {
		return "", err
	}
	path = filepath.Join(folder, filepath.Base(path))
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Type() != os.ModeSocket {
		return "", errors.New("is no unix socket")
	}
	if !isOwn(info) {
		return "", fmt.Errorf("is owned by user %d", ownerOf(info))
	}
	return path, nil
}

// trustPlace refuses a folder that the node does not name, or, where it names none, one of containers. `resolved` is "" for
// a folder that is absent.
func trustPlace(named, resolved string) error {
	if folders := os.Getenv(foldersVariable); folders != "" {
		for _, folder := range filepath.SplitList(folders) {
			if within(folder, cmp.Or(resolved, named)) == "." {
				return nil
			}
		}
		return fmt.Errorf("is in none of the folders of %s", foldersVariable)
	}
	for _, path := range []string{named, resolved} {
		for _, folder := range foreignFolders {
			if within(folder, path) != "" {
				return fmt.Errorf("is below %s, where containers have files", folder)
			}
		}
		if strings.Contains(path, volumeMark) {
			return errors.New("is in a volume of a Pod")
		}
	}
	return nil
}

// within returns the path as seen from a folder, as it is named or without symbolic links: "." for itself, "" where it is
// outside.
func within(folder, path string) string {
	resolved, _ := filepath.EvalSymlinks(folder)
	for _, folder := range []string{folder, resolved} {
		if inner, err := filepath.Rel(folder, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(inner) {
			return inner
		}
	}
	return ""
}

// trustFolders refuses a path without symbolic links with a folder in which every user may replace files.
func trustFolders(folder string) error {
	for {
		info, err := os.Lstat(folder)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
			return fmt.Errorf("is in %s, in which every user may replace files", folder)
		}
		if folder == "/" {
			return nil
		}
		folder = filepath.Dir(folder)
	}
}

// trustPeer looks at the process that listens: its user is the kernel's word, whatever the path led to.
func trustPeer(connection *net.UnixConn) error {
	raw, err := connection.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if !isOwnUser(peer.Uid) {
		return fmt.Errorf("is served by user %d", peer.Uid)
	}
	return nil
}

// isOwn reports whether root owns a file, or the user that runs this program.
func isOwn(info os.FileInfo) bool { return isOwnUser(ownerOf(info)) }

func ownerOf(info os.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }

func isOwnUser(user uint32) bool { return user == 0 || int(user) == os.Geteuid() }

package main

// Checks whether the plugin trusts a socket. A tenant may write the configuration that names the socket. So the plugin sends a
// request only to a process of root (or of the user that runs the plugin), on a path that no other user can change, and
// outside of folders where containers have files.

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

// socketFoldersVariable, in the environment of the runtime, names the folders of the agents' sockets, joined with colons. If
// it is set, the plugin connects to no socket in another folder.
const socketFoldersVariable = "IPLEDGER_SOCKET_DIRS"

// defaultSocketFolders are the folders that agents use by default. The agent makes an absent folder when it starts.
const defaultSocketFolders = "/run/openvswitch:/var/run/openvswitch:/run/ipledger"

// containerFolders hold the files of containers. A socket there may be a tenant's, even if root owns it.
var containerFolders = []string{
	"/proc", "/var/lib/kubelet", "/run/containerd", "/var/lib/containerd", "/run/containers", "/var/lib/containers",
	"/run/docker", "/var/lib/docker", "/run/k3s/containerd",
}

// volumePrefix begins a folder name in the path of each volume of a Pod, in any kubelet root folder.
const volumePrefix = "kubernetes.io~"

// untrusted is the error of a socket that the plugin does not trust.
type untrusted struct{ error }

func isUntrusted(err error) bool { return errors.As(err, new(untrusted)) }

// isRetryable reports whether a later attempt may reach the agent.
func isRetryable(err error) bool { return err != nil && !isUntrusted(err) }

// dial connects to the agent's socket, and checks the process that serves it. It returns an untrusted error if a check fails.
func dial(path string) (net.Conn, error) {
	resolved, err := checkSocketPath(path)
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
	if err := checkPeer(connection); err != nil {
		connection.Close()
		return nil, untrusted{fmt.Errorf("server_socket %q %w: run the node agent as root", path, err)}
	}
	return connection, nil
}

// mayAppearLater reports whether an agent may serve a trusted path later: its folder exists, or agents make it.
func mayAppearLater(path string) bool {
	folder := filepath.Dir(filepath.Clean(path))
	_, err := os.Stat(folder)
	named := filepath.SplitList(cmp.Or(os.Getenv(socketFoldersVariable), defaultSocketFolders))
	return err == nil || slices.ContainsFunc(named, func(each string) bool { return filepath.Clean(each) == folder })
}

// checkSocketPath returns the path to connect to, without symbolic links. It returns os.ErrNotExist if the path is allowed
// and absent, another error if the path is not allowed.
func checkSocketPath(path string) (string, error) {
	if !filepath.IsAbs(path) { // also excludes abstract sockets, which have no owner
		return "", errors.New("is no absolute path")
	}
	path = filepath.Clean(path)
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if refused := checkSocketFolder(filepath.Dir(path), folder); refused != nil {
		return "", refused
	}
	if err != nil {
		return "", err
	}
	if err := checkParentFolders(folder); err != nil {
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
	if !isTrustedOwner(info) {
		return "", fmt.Errorf("is owned by user %d", ownerOf(info))
	}
	return path, nil
}

// checkSocketFolder returns an error for a folder that is not in socketFoldersVariable, or, without that variable, for a
// folder of containers. `resolved` is "" if the folder is absent.
func checkSocketFolder(named, resolved string) error {
	if folders := os.Getenv(socketFoldersVariable); folders != "" {
		for _, folder := range filepath.SplitList(folders) {
			if within(folder, cmp.Or(resolved, named)) == "." {
				return nil
			}
		}
		return fmt.Errorf("is in none of the folders of %s", socketFoldersVariable)
	}
	for _, path := range slices.Compact([]string{named, resolved}) {
		for _, folder := range containerFolders {
			if within(folder, path) != "" {
				return fmt.Errorf("is below %s, where containers have files", folder)
			}
		}
		if strings.Contains(path, volumePrefix) {
			return errors.New("is in a volume of a Pod")
		}
	}
	return nil
}

// within returns the path relative to a folder, as named or with its symbolic links resolved: "." for the folder, "" for a
// path outside.
func within(folder, path string) string {
	resolved, _ := filepath.EvalSymlinks(folder)
	for _, folder := range []string{folder, resolved} {
		if inner, err := filepath.Rel(folder, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(inner) {
			return inner
		}
	}
	return ""
}

// checkParentFolders returns an error if every user may replace files in the folder or in one above it. The path has no
// symbolic links.
func checkParentFolders(folder string) error {
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

// checkPeer returns an error if another user's process serves the socket. The kernel reports the user.
func checkPeer(connection *net.UnixConn) error {
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
	if !isTrustedUser(peer.Uid) {
		return fmt.Errorf("is served by user %d", peer.Uid)
	}
	return nil
}

// isTrustedOwner reports whether root or the user that runs this program owns the file.
func isTrustedOwner(info os.FileInfo) bool { return isTrustedUser(ownerOf(info)) }

func ownerOf(info os.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }

func isTrustedUser(user uint32) bool { return user == 0 || int(user) == os.Geteuid() }

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// A configuration names the socket, and its author may be a tenant. So the plugin sends a request only to a process of
// root (or of the user that runs the plugin), by a path that no other user can change.

// untrusted is why no request is sent to a socket.
type untrusted struct{ error }

// isAway reports whether a later attempt may reach the agent.
func isAway(err error) bool {
	return err != nil && !errors.As(err, new(untrusted))
}

// dial connects to the agent's socket. It returns untrusted for a socket that may not be the agent's.
func dial(path string) (net.Conn, error) {
	if err := trustSocket(path); err != nil {
		return nil, untrusted{fmt.Errorf("server_socket %q %w: name the node agent's socket, which root owns", path, err)}
	}
	connection, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := trustPeer(connection); err != nil {
		connection.Close()
		return nil, untrusted{fmt.Errorf("server_socket %q %w: run the node agent as root", path, err)}
	}
	return connection, nil
}

// trustSocket takes a path that is not there: whether an agent comes is dial's to find out.
func trustSocket(path string) error {
	if !filepath.IsAbs(path) { // also an abstract socket, which no file protects
		return errors.New("is no absolute path")
	}
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSocket {
		return errors.New("is no unix socket")
	}
	if !isOwn(info) {
		return fmt.Errorf("is owned by user %d", ownerOf(info))
	}
	return trustFolders(filepath.Dir(path))
}

// trustFolders refuses a path with a folder in which every user may replace files. /run and the like may be symbolic links.
func trustFolders(folder string) error {
	folder, err := filepath.EvalSymlinks(folder)
	for err == nil {
		info, failed := os.Lstat(folder)
		if failed != nil {
			return failed
		}
		if info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
			return fmt.Errorf("is in %s, in which every user may replace files", folder)
		}
		if folder == "/" {
			return nil
		}
		folder = filepath.Dir(folder)
	}
	return err
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

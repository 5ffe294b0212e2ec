package main

// Pending DELs: files in a folder of the node, one for each DEL that no agent took. The agent replays them.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// pendingDelsVariable names the folder. It is read from the environment of the runtime, which only the node's administrator
// sets; a network's configuration cannot name the folder. The node agent reads the same variable.
const (
	pendingDelsVariable      = "IPLEDGER_PENDING_DELS"
	defaultPendingDelsFolder = "/var/lib/cni/ipledger"
)

// The agent rejects the names in a larger file.
const (
	maxPendingDelBytes = 4 << 10
	maxPendingDels     = 10_000
)

// savePendingDel writes a DEL into the folder, for the agent of its socket. A repeated DEL replaces its own file.
func savePendingDel(request *cniRequest, socket string, cause error) error {
	folder := cmp.Or(os.Getenv(pendingDelsVariable), defaultPendingDelsFolder)
	content, _ := json.Marshal(map[string]any{"server_socket": socket, "request": request.delRequest})
	if err := writeAtomically(folder, request.ContainerID+"@"+request.IfName+".json", content); err != nil {
		return rpcFailed("delete ip: %v; cannot save the DEL in %s: %v", cause, folder, err)
	}
	return nil
}

func writeAtomically(folder, name string, content []byte) error {
	if len(content) > maxPendingDelBytes {
		return fmt.Errorf("the request has %d bytes; the limit is %d", len(content), maxPendingDelBytes)
	}
	if !filepath.IsAbs(folder) {
		return fmt.Errorf("%s must be an absolute path", pendingDelsVariable)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := checkPendingDelsFolder(folder, name); err != nil {
		return err
	}
	draft, err := os.CreateTemp(folder, name+".*") // mode 0600; the agent ignores names that do not end in .json
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if closeErr := draft.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(draft.Name(), filepath.Join(folder, name))
	}
	if err != nil {
		os.Remove(draft.Name())
	}
	return err
}

// checkPendingDelsFolder returns an error if another user may write in the folder, or if the folder is full.
func checkPendingDelsFolder(folder, name string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() || !isTrustedOwner(info) || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("it must be a folder that root owns and no other user may write")
	}
	if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
		return nil // the new file replaces it
	}
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer opened.Close()
	if names, _ := opened.Readdirnames(maxPendingDels); len(names) == maxPendingDels {
		return fmt.Errorf("it holds %d files, the limit: start the node agent, which replays them", maxPendingDels)
	}
	return nil
}

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// journalVariable names the folder in the environment of the runtime, which the node's administrator sets: no configuration
// of a network can. The node agent reads the same variable.
const (
	journalVariable = "IPLEDGER_JOURNAL"
	journalFolder   = "/var/lib/cni/ipledger"
)

// Limits of the journal. An agent would not accept the names of a larger entry.
const (
	mostEntry = 4 << 10
	mostLeft  = 10_000
)

// leftRequest is what the agent needs to do a DEL: the rest of a configuration may be large.
type leftRequest struct {
	CniType      string `json:"cni_type"`
	PodName      string `json:"pod_name"`
	PodNamespace string `json:"pod_namespace"`
	ContainerID  string `json:"container_id"`
	NetNs        string `json:"net_ns"`
	IfName       string `json:"if_name"`
	Provider     string `json:"provider"`
}

// leave writes a DEL into the journal, for the agent of its socket. A repeated DEL replaces its own file.
func leave(request *cniRequest, socket string, cause error) error {
	journal := cmp.Or(os.Getenv(journalVariable), journalFolder)
	entry, _ := json.Marshal(map[string]any{"server_socket": socket, "request": leftRequest{
		request.CniType, request.PodName, request.PodNamespace, request.ContainerID, request.NetNs, request.IfName, request.Provider,
	}})
	if err := write(journal, request.ContainerID+"@"+request.IfName+".json", entry); err != nil {
		return rpcFailed("delete ip: %v; it cannot be left in %s either: %v", cause, journal, err)
	}
	return nil
}

func write(journal, name string, entry []byte) error {
	if len(entry) > mostEntry {
		return fmt.Errorf("the request has %d bytes, and may have %d", len(entry), mostEntry)
	}
	if !filepath.IsAbs(journal) {
		return fmt.Errorf("%s is no absolute path", journalVariable)
	}
	if err := os.MkdirAll(journal, 0o700); err != nil {
		return err
	}
	if err := trustJournal(journal, name); err != nil {
		return err
	}
	draft, err := os.CreateTemp(journal, name+".*") // 0600; the agent passes over what does not end in .json
	if err != nil {
		return err
	}
	_, err = draft.Write(entry)
	if closed := draft.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(draft.Name(), filepath.Join(journal, name))
	}
	if err != nil {
		os.Remove(draft.Name())
	}
	return err
}

// trustJournal refuses a folder in which another user may write, and one that is full.
func trustJournal(journal, name string) error {
	info, err := os.Lstat(journal)
	if err != nil {
		return err
	}
	if !info.IsDir() || !isOwn(info) || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("it must be a folder of root in which no other user may write")
	}
	if _, err := os.Lstat(filepath.Join(journal, name)); err == nil {
		return nil // replaced
	}
	folder, err := os.Open(journal)
	if err != nil {
		return err
	}
	defer folder.Close()
	if left, _ := folder.Readdirnames(mostLeft); len(left) == mostLeft {
		return fmt.Errorf("it holds %d files already: start the node agent, which does what they ask", mostLeft)
	}
	return nil
}

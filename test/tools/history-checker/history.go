package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// history is what one run recorded, and what etcd and the streams had at its end.
type history struct {
	operations []operation
	// The lines of the log, as etcd has them.
	log     []string
	claims  []claim
	watched []delivery
}

// line is one line of the input; one of its fields is set.
type line struct {
	Operation *operation `json:"operation,omitempty"`
	Event     *string    `json:"event,omitempty"`
	Claim     *claim     `json:"claim,omitempty"`
	Delivery  *delivery  `json:"delivery,omitempty"`
}

// operation is one call of a client.
type operation struct {
	Kind string `json:"kind,omitempty"`
	// Request is the same for each attempt of a repeated request, and is in the event that it causes.
	Request string `json:"request,omitempty"`
	Client  int    `json:"client,omitempty"`
	// Start and End are microseconds of one clock. There is no End without an answer.
	Start int64 `json:"start,omitempty"`
	End   int64 `json:"end,omitempty"`
	// Outcome is "ok", "refused", or "unknown": the call may have had its effect, or have it later.
	Outcome  string    `json:"outcome,omitempty"`
	Code     string    `json:"code,omitempty"`
	Position *position `json:"position,omitempty"`
	// MinSeq and Local are those of a read.
	MinSeq uint64 `json:"minSeq,omitempty"`
	Local  bool   `json:"local,omitempty"`

	Subnet      string       `json:"subnet,omitempty"`
	Address     string       `json:"address,omitempty"`
	Pod         string       `json:"pod,omitempty"`
	UID         string       `json:"uid,omitempty"`
	Container   string       `json:"container,omitempty"`
	Node        string       `json:"node,omitempty"`
	Owner       string       `json:"owner,omitempty"`
	SeenSeq     uint64       `json:"seenSeq,omitempty"`
	AllocSeq    uint64       `json:"allocSeq,omitempty"`
	Value       string       `json:"value,omitempty"`
	Count       int          `json:"count,omitempty"`
	Allocations []allocation `json:"allocations,omitempty"`
	Record      *record      `json:"record,omitempty"`
}

type position struct {
	Epoch uint64 `json:"epoch,omitempty"`
	Seq   uint64 `json:"seq,omitempty"`
	Hash  string `json:"hash,omitempty"`
}

type allocation struct {
	Subnet    string   `json:"subnet,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
	UID       string   `json:"uid,omitempty"`
	Seq       uint64   `json:"seq,omitempty"`
}

// record is what a read says about an address.
type record struct {
	UID         string `json:"uid,omitempty"`
	Seq         uint64 `json:"seq,omitempty"`
	Owner       string `json:"owner,omitempty"`
	Quarantined bool   `json:"quarantined,omitempty"`
	// Bindings are "container@node", sorted.
	Bindings []string `json:"bindings,omitempty"`
}

// claim is a key of an address in etcd, "<subnet>/<address>", with what its value says.
type claim struct {
	Key string `json:"key,omitempty"`
	record
}

// delivery is an event that a Watch delivered, or a reconnect of it.
type delivery struct {
	Watcher string `json:"watcher,omitempty"`
	// Subnet is the filter of the stream; "" for all events.
	Subnet string `json:"subnet,omitempty"`
	Seq    uint64 `json:"seq,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// Ends is whether the reply ends with this event.
	Ends bool `json:"ends,omitempty"`
}

func readHistory(input io.Reader) (*history, error) {
	read := &history{}
	scanner := bufio.NewScanner(input)
	scanner.Buffer(nil, 1<<20)
	for number := 1; scanner.Scan(); number++ {
		var each line
		if err := json.Unmarshal(scanner.Bytes(), &each); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		switch {
		case each.Operation != nil:
			if each.Operation.Outcome == "unknown" {
				each.Operation.End = math.MaxInt64
			}
			read.operations = append(read.operations, *each.Operation)
		case each.Event != nil:
			read.log = append(read.log, *each.Event)
		case each.Claim != nil:
			read.claims = append(read.claims, *each.Claim)
		case each.Delivery != nil:
			read.watched = append(read.watched, *each.Delivery)
		default:
			return nil, fmt.Errorf("line %d has no operation, event, claim or delivery", number)
		}
	}
	return read, scanner.Err()
}

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// event has the fields of a stored event that the checks read.
type event struct {
	Seq     uint64            `json:"seq"`
	Command string            `json:"cmd"`
	Part    [2]int            `json:"part"`
	Type    string            `json:"type"`
	Subnet  string            `json:"subnet"`
	At      string            `json:"at"`
	Prev    string            `json:"prev"`
	Before  map[string]uint64 `json:"before"`
	Data    struct {
		Alloc      uint64 `json:"alloc"`
		UID        string `json:"uid"`
		FromUID    string `json:"fromUid"`
		Ended      bool   `json:"ended"`
		Cause      string `json:"cause"`
		Attachment struct {
			Namespace string `json:"namespace"`
			Pod       string `json:"pod"`
			Provider  string `json:"provider"`
		} `json:"attachment"`
		// Texts, or objects with an address.
		Addresses []assigned `json:"addresses"`
		// Of a quarantine.
		Address     string `json:"address"`
		ContainerID string `json:"containerId"`
		Node        string `json:"node"`
		BootID      string `json:"bootId"`
		ReservedFor string `json:"reservedFor"`
		Reason      string `json:"reason"`
		Spec        struct {
			ExcludeIPs []string `json:"excludeIps"`
			CooldownMs int64    `json:"cooldownMs"`
		} `json:"spec"`
		Source struct {
			UID string `json:"uid"`
		} `json:"source"`
	} `json:"data"`

	hash string
}

// assigned is an address of an event: a text, or an object that also has the CIDR and the gateway.
type assigned string

func (each *assigned) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, (*string)(each))
	}
	var object struct {
		Address string `json:"address"`
	}
	err := json.Unmarshal(text, &object)
	*each = assigned(object.Address)
	return err
}

func (each *event) addresses() []string {
	if each.Data.Address != "" {
		return []string{each.Data.Address}
	}
	texts := make([]string, len(each.Data.Addresses))
	for i, address := range each.Data.Addresses {
		texts[i] = string(address)
	}
	return texts
}

type noteFunc func(format string, values ...any)

// ledger is the log, with the fold of each of its prefixes on demand.
type ledger struct {
	events []event
	// The state after the last event.
	state *fold
	// The states of an address after each event about it.
	versions map[string][]version
	// The numbers of the events that took or passed on addresses, by Pod name and uid.
	allocationsOf map[podUID][]allocation
	// What was released, bound and so on, by a mark that only one request has.
	effects map[effect]bool
}

type podUID struct{ pod, uid string }

// effect is the type of an event with the Pod uid, the container or the request that the event is about.
type effect struct{ kind, mark string }

type version struct {
	seq   uint64
	state record
}

// readLog checks the log and folds it.
func readLog(lines []string, note noteFunc) *ledger {
	read := &ledger{
		state:         newFold(),
		versions:      map[string][]version{},
		allocationsOf: map[podUID][]allocation{},
		effects:       map[effect]bool{},
	}
	var last event
	for i, text := range lines {
		var each event
		if err := json.Unmarshal([]byte(text), &each); err != nil {
			note("event %d is not readable: %v", i+1, err)
			return read
		}
		sum := sha256.Sum256([]byte(text))
		each.hash = hex.EncodeToString(sum[:])
		if each.Seq != uint64(i+1) {
			note("event %d stands where event %d is expected", each.Seq, i+1)
		}
		if each.Prev != last.hash {
			note("event %d: its prev is not the hash of the event before it", each.Seq)
		}
		if each.At < last.At {
			note("event %d: its time %s is before %s", each.Seq, each.At, last.At)
		}
		if !each.follows(&last) {
			note("event %d is part %d of %d after part %d of %d", each.Seq, each.Part[0], each.Part[1], last.Part[0], last.Part[1])
		}
		read.state.apply(&each, note)
		read.index(&each)
		read.events = append(read.events, each)
		last = each
	}
	if last.Part[0] < last.Part[1] {
		note("the log ends inside of a command")
	}
	return read
}

// follows returns whether the event is the next part of the command of the last one, or the first of another one.
func (each *event) follows(last *event) bool {
	if last.Part[0] < last.Part[1] {
		return each.Part == [2]int{last.Part[0] + 1, last.Part[1]} && each.Command == last.Command
	}
	return each.Part[0] == 1 && each.Part[1] >= 1
}

func (read *ledger) index(each *event) {
	data := &each.Data
	for _, address := range each.addresses() {
		key := each.Subnet + "/" + address
		read.versions[key] = append(read.versions[key], version{each.Seq, read.state.address(key).record()})
	}
	switch each.Type {
	case "AddressAllocated", "AddressTransferred":
		key := podUID{data.Attachment.Pod, data.UID}
		taken := allocation{Subnet: each.Subnet, Addresses: each.addresses(), UID: data.UID, Seq: each.Seq}
		read.allocationsOf[key] = append(read.allocationsOf[key], taken)
	case "AddressReleased":
		read.effects[effect{"release", data.UID}] = true
	case "AddressBound":
		read.effects[effect{"bind", data.ContainerID}] = true
	case "AddressUnbound":
		read.effects[effect{"unbind", data.ContainerID}] = true
	case "AddressReserved", "ReservationCancelled", "AddressQuarantined", "QuarantineLifted":
		read.effects[effect{"reason", data.Reason}] = true
	case "SubnetConfigured":
		read.effects[effect{"apply", data.Source.UID}] = true
	}
}

// at returns what the log says about an address at a position.
func (read *ledger) at(key string, seq uint64) record {
	state := record{}
	for _, each := range read.versions[key] {
		if each.seq > seq {
			break
		}
		state = each.state
	}
	return state
}

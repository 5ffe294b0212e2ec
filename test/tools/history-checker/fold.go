package main

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// fold is the state that follows from the log, and the rules that an event must meet. It knows one network for each Subnet, and
// no pools, MACs or imports: the histories have none.
type fold struct {
	addresses map[string]*address
	subnets   map[string]*subnet
	// Pods that have ended get no address again.
	ended map[podUID]bool
}

type address struct {
	uid, pod    string
	seq         uint64
	owner       string
	quarantined bool
	// The nodes and boots of the containers that may answer on it.
	bindings map[string]boot
	last     uint64
	// The time of the last event about it.
	lastAt time.Time
}

type boot struct{ node, id string }

type subnet struct {
	excluded []span
	cooldown time.Duration
}

// span is a range of addresses.
type span struct{ first, last netip.Addr }

func newFold() *fold {
	return &fold{map[string]*address{}, map[string]*subnet{}, map[podUID]bool{}}
}

func (state *fold) address(key string) *address {
	known, found := state.addresses[key]
	if !found {
		known = &address{bindings: map[string]boot{}}
		state.addresses[key] = known
	}
	return known
}

func (each *address) record() record {
	bindings := []string{}
	for container, where := range each.bindings {
		bindings = append(bindings, container+"@"+where.node)
	}
	slices.Sort(bindings)
	return record{each.uid, each.seq, each.owner, each.quarantined, bindings}
}

func (state *fold) apply(each *event, note noteFunc) {
	data := &each.Data
	wrong := func(format string, values ...any) {
		note("event %d (%s): "+format, append([]any{each.Seq, each.Type}, values...)...)
	}
	switch each.Type {
	case "SubnetConfigured":
		state.subnets[each.Subnet] = &subnet{
			spansOf(data.Spec.ExcludeIPs), time.Duration(data.Spec.CooldownMs) * time.Millisecond,
		}
	case "SubnetRetired":
		delete(state.subnets, each.Subnet)
	}
	at, err := time.Parse(time.RFC3339, each.At)
	if err != nil {
		wrong("its time %s is not readable", each.At)
	}
	for _, text := range each.addresses() {
		key := each.Subnet + "/" + text
		known := state.address(key)
		if each.Before[text] != known.last {
			wrong("event %d was the last one about %s, and it names event %d", known.last, key, each.Before[text])
		}
		state.applyTo(known, each, text, at, func(format string, values ...any) {
			wrong("%s "+format, append([]any{key}, values...)...)
		})
		known.last, known.lastAt = each.Seq, at
	}
	if (each.Type == "AddressReleased" && data.Ended) || (each.Type == "AddressTransferred" && data.Ended) {
		uid := data.UID
		if each.Type == "AddressTransferred" {
			uid = data.FromUID
		}
		state.ended[podUID{data.Attachment.Pod, uid}] = true
	}
}

func (state *fold) applyTo(known *address, each *event, text string, at time.Time, wrong noteFunc) {
	data := &each.Data
	holder := func(uid string) {
		if known.uid != uid || known.seq != data.Alloc || known.pod != data.Attachment.Pod {
			wrong("is held by %q by event %d, not by %q by event %d", known.uid, known.seq, uid, data.Alloc)
		}
	}
	switch each.Type {
	case "AddressAllocated":
		state.refuseAllocation(known, each, text, at, wrong)
		known.uid, known.pod, known.seq = data.UID, data.Attachment.Pod, each.Seq
	case "AddressTransferred":
		holder(data.FromUID)
		if known.quarantined {
			wrong("is quarantined, and was passed on")
		}
		if state.ended[podUID{data.Attachment.Pod, data.UID}] {
			wrong("was passed on to uid %q, which has ended", data.UID)
		}
		known.uid, known.seq = data.UID, each.Seq
	case "AddressReleased":
		holder(data.UID)
		known.uid, known.pod, known.seq = "", "", 0
	case "AddressBound":
		holder(data.UID)
		for container, where := range known.bindings {
			if where.node == data.Node && where.id != data.BootID {
				delete(known.bindings, container)
			} else if where.node != data.Node {
				wrong("was bound on node %s, although container %s on node %s may answer on it", data.Node, container, where.node)
			}
		}
		known.bindings[data.ContainerID] = boot{data.Node, data.BootID}
	case "AddressUnbound":
		if _, found := known.bindings[data.ContainerID]; !found {
			wrong("is not bound to container %s", data.ContainerID)
		}
		delete(known.bindings, data.ContainerID)
	case "AddressReserved":
		if known.owner != "" || known.quarantined || known.uid != "" {
			wrong("was reserved, although it has %+v", known.record())
		}
		known.owner = data.ReservedFor
	case "ReservationCancelled":
		if known.owner != data.ReservedFor {
			wrong("is reserved for %q, not for %q", known.owner, data.ReservedFor)
		}
		known.owner = ""
	case "AddressQuarantined":
		known.quarantined = true
	case "QuarantineLifted":
		known.quarantined = false
	}
}

func (state *fold) refuseAllocation(known *address, each *event, text string, at time.Time, wrong noteFunc) {
	data := &each.Data
	in, found := state.subnets[each.Subnet]
	if !found {
		wrong("is of a Subnet that does not exist")
		return
	}
	if state.ended[podUID{data.Attachment.Pod, data.UID}] {
		wrong("was allocated to uid %q, which has ended", data.UID)
	}
	if known.uid != "" || known.owner != "" || known.quarantined || len(known.bindings) > 0 {
		wrong("was allocated to uid %q, although it has %+v", data.UID, known.record())
	}
	if data.Cause != "dynamic" {
		return
	}
	if known.last > 0 && at.Sub(known.lastAt) < in.cooldown {
		wrong("was allocated %s after the last event about it, before the end of the cooldown", at.Sub(known.lastAt))
	}
	parsed, err := netip.ParseAddr(text)
	if err != nil || slices.ContainsFunc(in.excluded, func(each span) bool { return each.has(parsed) }) {
		wrong("is excluded, and was allocated to a request that names no address")
	}
}

func (each span) has(address netip.Addr) bool {
	return each.first.BitLen() == address.BitLen() && each.first.Compare(address) <= 0 && address.Compare(each.last) <= 0
}

func spansOf(texts []string) []span {
	spans := []span{}
	for _, text := range texts {
		first, last, isRange := strings.Cut(text, "..")
		if !isRange {
			last = first
		}
		from, errFrom := netip.ParseAddr(first)
		to, errTo := netip.ParseAddr(last)
		if errFrom == nil && errTo == nil {
			spans = append(spans, span{from, to})
		}
	}
	return spans
}

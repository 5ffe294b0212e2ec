package main

import (
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// The models say what docs/guarantees.md promises of one object. A step without an answer has its effect where it may, and none
// elsewhere.

// addressState is comparable, as Porcupine needs it.
type addressState struct {
	pod, uid    string
	seq         uint64
	owner       string
	quarantined bool
	// "container@node" of each container that may answer on it, sorted, joined with spaces.
	bindings string
}

var addressModel = porcupine.Model{
	Init: func() any { return addressState{} },
	Step: func(state, input, _ any) (bool, any) {
		possible, next := stepAddress(state.(addressState), input.(step))
		if input.(step).Outcome == "unknown" {
			if !possible {
				return true, state
			}
			return true, next
		}
		return possible, next
	},
}

func stepAddress(state addressState, each step) (bool, addressState) {
	before := state
	if each.Outcome == "refused" {
		return refusesAddress(state, each), state
	}
	switch each.Kind {
	case "allocate":
		return allocateAddress(state, each)
	case "release":
		if state.uid == each.UID && (each.AllocSeq == 0 || each.AllocSeq == state.seq) {
			state.pod, state.uid, state.seq = "", "", 0
			return each.Outcome == "unknown" || each.Count > 0, state
		}
		return true, state
	case "bind":
		state.bindings = with(state.bindings, each.Container+"@"+each.Node)
		return before.uid == each.UID, state
	case "unbind":
		state.bindings = without(state.bindings, each.Container+"@"+each.Node)
		return each.Outcome == "unknown" || (each.Count > 0) == (state.bindings != before.bindings), state
	case "reserve":
		state.owner = each.Owner
		return before.owner == each.Owner || (before.owner == "" && !before.quarantined && before.uid == ""), state
	case "unreserve":
		if each.Owner == "" || state.owner == each.Owner {
			state.owner = ""
		}
	case "quarantine":
		state.quarantined = true
	case "unquarantine":
		state.quarantined = false
	case "getAddress":
		read := each.Record
		return each.Local || (read != nil && state.uid == read.UID && state.seq == read.Seq && state.owner == read.Owner &&
			state.quarantined == read.Quarantined && state.bindings == strings.Join(read.Bindings, " ")), state
	}
	return true, state
}

// allocateAddress: a Pod keeps what it has, takes over from an earlier Pod of its name, or takes what is free. A Pod that got
// other addresses has ended the earlier one of its name.
func allocateAddress(state addressState, each step) (bool, addressState) {
	if each.took.Seq == 0 {
		if state.pod == each.Pod && state.uid != each.UID {
			state.pod, state.uid, state.seq = "", "", 0
		}
		return state.uid != each.UID, state
	}
	if state.uid == each.UID {
		return state.seq == each.took.Seq, state
	}
	isFree := state.uid == "" && state.bindings == ""
	possible := !state.quarantined && state.owner == "" && (isFree || state.pod == each.Pod)
	state.pod, state.uid, state.seq = each.Pod, each.UID, each.took.Seq
	return possible, state
}

// refusesAddress returns whether the state of an address explains a refusal.
func refusesAddress(state addressState, each step) bool {
	switch each.Code {
	case "ADDRESS_IN_USE":
		// Version 0.1.0 has this code for each reason.
		return (state.uid != "" && state.pod != each.Pod) || state.bindings != "" || state.owner != "" || state.quarantined
	case "ADDRESS_RESERVED":
		return state.owner != "" && state.owner != each.Owner
	case "ADDRESS_QUARANTINED":
		return state.quarantined
	}
	// The Pod explains the other codes of refusals.go.
	return true
}

func with(bindings, one string) string {
	all := strings.Fields(bindings)
	if !slices.Contains(all, one) {
		all = append(all, one)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func without(bindings, one string) string {
	all := strings.Fields(bindings)
	return strings.Join(slices.DeleteFunc(all, func(each string) bool { return each == one }), " ")
}

// podState is the Pod of a name that holds addresses, and the earlier ones.
type podState struct {
	uid string
	// The newest event that gave it an address, and the number of its allocations.
	seq   uint64
	count int
	// The uids that have ended, with a space after each.
	ended string
}

func (state podState) hasEnded(uid string) bool { return strings.Contains(state.ended, uid+" ") }

func (state podState) end() podState {
	if state.uid != "" {
		state.ended += state.uid + " "
	}
	state.uid, state.seq, state.count = "", 0, 0
	return state
}

var podModel = porcupine.Model{
	Init: func() any { return podState{} },
	Step: func(state, input, _ any) (bool, any) {
		possible, next := stepPod(state.(podState), input.(step))
		if input.(step).Outcome == "unknown" {
			if !possible {
				return true, state
			}
			return true, next
		}
		return possible, next
	},
}

func stepPod(state podState, each step) (bool, podState) {
	if each.Outcome == "refused" {
		return refusesPod(state, each), state
	}
	switch each.Kind {
	case "allocate":
		taken := each.Allocations
		if each.Outcome == "unknown" {
			taken = each.grant
		}
		newest, count := newestOf(taken), len(taken)
		if state.uid == each.UID {
			return each.Outcome == "unknown" || (state.count == count && state.seq == newest), state
		}
		// A request takes nothing from a Pod that got its address after the request was made.
		isOutdated := each.SeenSeq > 0 && state.uid != "" && state.seq > each.SeenSeq
		possible := !state.hasEnded(each.UID) && !isOutdated
		state = state.end()
		state.uid, state.seq, state.count = each.UID, newest, count
		return possible, state
	case "release":
		isHeld := state.uid == each.UID && (each.AllocSeq == 0 || each.AllocSeq == state.seq)
		possible := each.Outcome == "unknown" || (isHeld && each.Count == state.count) || (!isHeld && each.Count == 0)
		if isHeld {
			ended := state.ended
			state = state.end()
			if each.AllocSeq > 0 {
				// An operator released it: the Pod may get an address again.
				state.ended = ended
			}
		}
		return possible, state
	case "bind":
		return state.uid == each.UID, state
	case "list":
		if each.Local {
			return true, state
		}
		if len(each.Allocations) == 0 {
			return state.uid == "", state
		}
		return state.uid == each.Allocations[0].UID && state.count == len(each.Allocations) &&
			state.seq == newestOf(each.Allocations), state
	}
	return true, state
}

// refusesPod returns whether the Pods of a name explain a refusal.
func refusesPod(state podState, each step) bool {
	switch each.Code {
	case "POD_SUPERSEDED":
		return state.hasEnded(each.UID)
	case "REQUEST_OUTDATED":
		return state.uid != "" && state.uid != each.UID && state.seq > each.SeenSeq
	case "NOT_ALLOCATED":
		return state.uid != each.UID
	}
	// The addresses explain the other codes of refusals.go.
	return true
}

func newestOf(taken []allocation) uint64 {
	newest := uint64(0)
	for _, each := range taken {
		newest = max(newest, each.Seq)
	}
	return newest
}

// subnetModel is a register: the last applied spec, "" for none.
var subnetModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		each := input.(step)
		if each.Outcome == "refused" {
			return state == "", state
		}
		switch each.Kind {
		case "apply":
			return true, each.Value
		case "retire":
			return true, ""
		case "getSubnet":
			return each.Local || state == each.Value, state
		}
		return true, state
	},
}

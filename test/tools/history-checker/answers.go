package main

import (
	"cmp"
	"reflect"
	"slices"
)

// checkPositions checks that each answer has a position: it is in the log, a read has its minimum, and the answer contains all that
// was answered before its call. LOCAL reads promise only their minimum.
func checkPositions(operations []operation, read *ledger, note noteFunc) {
	if len(read.events) == 0 {
		return
	}
	answered := []operation{}
	for _, each := range operations {
		at := each.Position
		if at == nil {
			if each.Outcome == "ok" {
				note("%s: its answer has no position", each.describe())
			}
			continue
		}
		if at.Seq == 0 || at.Seq > uint64(len(read.events)) {
			note("%s: its position is event %d, and the log has %d", each.describe(), at.Seq, len(read.events))
			return
		}
		if found := &read.events[at.Seq-1]; found.hash != at.Hash {
			note("%s: its position is event %d with hash %s, and the log has %s", each.describe(), at.Seq, at.Hash, found.hash)
		}
		if at.Seq < each.MinSeq {
			note("%s: its position is event %d, before its min_seq %d", each.describe(), at.Seq, each.MinSeq)
		}
		if !each.Local {
			answered = append(answered, each)
		}
	}
	byStart, byEnd := slices.Clone(answered), answered
	slices.SortFunc(byStart, func(a, b operation) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortFunc(byEnd, func(a, b operation) int { return cmp.Compare(a.End, b.End) })
	var newest operation
	for _, each := range byStart {
		for len(byEnd) > 0 && byEnd[0].End < each.Start {
			if newest.Position == nil || byEnd[0].Position.Seq > newest.Position.Seq {
				newest = byEnd[0]
			}
			byEnd = byEnd[1:]
		}
		if newest.Position != nil && each.Position.Seq < newest.Position.Seq {
			note("%s: its position is event %d, and %s was answered before its call at event %d",
				each.describe(), each.Position.Seq, newest.describe(), newest.Position.Seq)
		}
	}
}

// checkReads compares each read of an address with the log at the position of its answer, also LOCAL ones.
func checkReads(operations []operation, read *ledger, note noteFunc) {
	if len(read.events) == 0 {
		return
	}
	for _, each := range operations {
		// checkPositions reports an answer without a position.
		if each.Kind != "getAddress" || each.Outcome != "ok" || each.Position == nil {
			continue
		}
		if each.Record == nil {
			note("%s: its answer has no record", each.describe())
			continue
		}
		if expected := read.at(each.Subnet+"/"+each.Address, each.Position.Seq); !each.Record.equals(expected) {
			note("%s: at event %d the log has %+v", each.describe(), each.Position.Seq, expected)
		}
	}
}

// checkClaims compares the keys of the addresses with the fold of the log.
func checkClaims(claims []claim, read *ledger, note noteFunc) {
	if len(claims) == 0 {
		return
	}
	found := map[string]bool{}
	for _, each := range claims {
		found[each.Key] = true
		if expected := read.state.address(each.Key).record(); !each.equals(expected) {
			note("the claim %s has %+v, and the log has %+v", each.Key, each.record, expected)
		}
	}
	for key := range read.versions {
		if !found[key] {
			note("the log has events about %s, and there is no claim", key)
		}
	}
}

// checkStreams checks that each stream delivered the log, or what its filter selects.
func checkStreams(watched []delivery, read *ledger, note noteFunc) {
	next := map[string]int{}
	filters := map[string]string{}
	for _, each := range watched {
		filters[each.Watcher] = each.Subnet
		expected := next[each.Watcher]
		for expected < len(read.events) && each.Subnet != "" && read.events[expected].Subnet != each.Subnet {
			expected++
		}
		if expected >= len(read.events) || each.Seq != read.events[expected].Seq {
			note("stream %s delivered event %d where event %d is expected", each.Watcher, each.Seq, expected+1)
			return
		}
		if at := &read.events[expected]; each.SHA256 != at.hash {
			note("stream %s delivered other bytes of event %d than etcd has", each.Watcher, each.Seq)
		} else if each.Ends && at.Part[0] < at.Part[1] {
			note("stream %s delivered a reply that ends inside of a command, with event %d", each.Watcher, each.Seq)
		}
		next[each.Watcher] = expected + 1
	}
	for watcher, expected := range next {
		for _, each := range read.events[expected:] {
			if filters[watcher] == "" || filters[watcher] == each.Subnet {
				note("stream %s did not deliver event %d", watcher, each.Seq)
				break
			}
		}
	}
}

func (each record) equals(other record) bool {
	if len(each.Bindings) == 0 && len(other.Bindings) == 0 {
		each.Bindings, other.Bindings = nil, nil
	}
	return reflect.DeepEqual(each, other)
}

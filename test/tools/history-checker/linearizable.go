package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// checkWithin is the time for one partition. An undecided partition is a violation: nothing was shown.
const checkWithin = 60 * time.Second

// checkLinearizable checks each address, each Pod name and each Subnet as an object of its own: a history is linearizable if
// each of its objects is. It returns their number.
func checkLinearizable(operations []operation, read *ledger, note noteFunc) int {
	parts := partitions{addresses: map[string][]step{}, pods: map[string][]step{}, subnets: map[string][]step{}}
	parts.fill(effective(operations, read), read)
	for what, each := range map[string]struct {
		objects map[string][]step
		model   porcupine.Model
	}{
		"address": {parts.addresses, addressModel},
		"Pod":     {parts.pods, podModel},
		"Subnet":  {parts.subnets, subnetModel},
	} {
		for _, name := range slices.Sorted(maps.Keys(each.objects)) {
			check(what+" "+name, each.model, each.objects[name], note)
		}
	}
	return len(parts.addresses) + len(parts.pods) + len(parts.subnets)
}

// step is an operation as one object sees it.
type step struct {
	*operation
	// took is the allocation that gave it this address; empty if it has none of it.
	took allocation
	// grant is what the log has for a request without an answer.
	grant []allocation
}

// effective removes the reads without an answer, and the writes without an answer of which the log has no effect. It joins the
// attempts without an answer of one request: their effect may begin with the first of them.
func effective(operations []operation, read *ledger) []operation {
	kept := []operation{}
	attempts := map[string]bool{}
	sorted := slices.Clone(operations)
	slices.SortStableFunc(sorted, func(a, b operation) int { return cmp.Compare(a.Start, b.Start) })
	for _, each := range sorted {
		if each.Outcome == "unknown" {
			if attempts[each.Request] || !read.mayHaveDone(&each) {
				continue
			}
			attempts[each.Request] = true
		}
		if each.Kind == "attach" {
			// That an allocation does not appear in time says nothing about one moment.
			if each.Outcome == "refused" {
				continue
			}
			each.Kind = "bind"
		}
		kept = append(kept, each)
	}
	return kept
}

// mayHaveDone returns whether the log has the effect of an operation without an answer.
func (read *ledger) mayHaveDone(each *operation) bool {
	switch each.Kind {
	case "allocate":
		return len(read.allocationsOf[podUID{each.Pod, each.UID}]) > 0
	case "release":
		return read.effects[effect{"release", each.UID}]
	case "bind", "attach":
		return read.effects[effect{"bind", each.Container}]
	case "unbind":
		return read.effects[effect{"unbind", each.Container}]
	case "reserve", "unreserve", "quarantine", "unquarantine":
		return read.effects[effect{"reason", each.Request}] || len(read.events) == 0
	case "apply":
		return read.effects[effect{"apply", each.Value}]
	case "retire":
		return true
	}
	return false
}

// partitions has the steps of each object.
type partitions struct{ addresses, pods, subnets map[string][]step }

func (parts *partitions) fill(operations []operation, read *ledger) {
	// The addresses that a Pod name or a uid ever had, "<subnet>/<address>".
	ofPod, ofUID := map[string]map[string]bool{}, map[string]map[string]bool{}
	remember := func(pod string, taken []allocation) {
		for _, each := range taken {
			for _, key := range keysOf([]allocation{each}) {
				put(ofPod, pod, key)
				put(ofUID, each.UID, key)
			}
		}
	}
	for key, taken := range read.allocationsOf {
		remember(key.pod, taken)
	}
	for i := range operations {
		if each := &operations[i]; each.Kind == "allocate" {
			remember(each.Pod, each.Allocations)
		}
	}
	for i := range operations {
		each := &operations[i]
		switch each.Kind {
		case "allocate":
			parts.addAllocate(each, read, ofPod[each.Pod])
		case "release":
			parts.addPod(each)
			for key := range ofUID[each.UID] {
				parts.addAddress(key, step{operation: each})
			}
		case "bind", "unbind":
			parts.addPod(each)
			keys := keysOf(each.Allocations)
			if each.Outcome == "unknown" {
				keys = slices.Collect(maps.Keys(ofUID[each.UID]))
			}
			for _, key := range keys {
				parts.addAddress(key, step{operation: each})
			}
		case "list":
			parts.addPod(each)
		case "apply", "retire", "getSubnet":
			parts.subnets[each.Subnet] = append(parts.subnets[each.Subnet], step{operation: each})
		default:
			parts.addAddress(each.Subnet+"/"+each.Address, step{operation: each})
		}
	}
}

// addAllocate adds an answered request to its Pod, and to each address that its Pod name ever had: it takes those of its answer,
// and frees the others. One without an answer may have given each allocation that the log has for its uid.
func (parts *partitions) addAllocate(each *operation, read *ledger, addresses map[string]bool) {
	switch each.Outcome {
	case "refused":
		parts.addPod(each)
		if each.Address != "" {
			parts.addAddress(each.Subnet+"/"+each.Address, step{operation: each})
		}
	case "ok":
		parts.addPod(each)
		for key := range addresses {
			parts.addAddress(key, step{operation: each, took: givenBy(each.Allocations, key)})
		}
	case "unknown":
		for _, taken := range read.grantsOf(podUID{each.Pod, each.UID}) {
			parts.pods[each.Pod] = append(parts.pods[each.Pod], step{operation: each, grant: taken})
			for key := range addresses {
				parts.addAddress(key, step{operation: each, took: givenBy(taken, key)})
			}
		}
	}
}

func put(sets map[string]map[string]bool, name, key string) {
	if sets[name] == nil {
		sets[name] = map[string]bool{}
	}
	sets[name][key] = true
}

// grantsOf returns what the log has for a uid, event by event, or as one grant if its Pod has several NICs.
func (read *ledger) grantsOf(key podUID) [][]allocation {
	taken := read.allocationsOf[key]
	subnets := map[string]bool{}
	for _, each := range taken {
		subnets[each.Subnet] = true
	}
	if len(subnets) > 1 {
		return [][]allocation{taken}
	}
	grants := [][]allocation{}
	for _, each := range taken {
		grants = append(grants, []allocation{each})
	}
	return grants
}

// givenBy returns the allocation that has an address; an empty one without it.
func givenBy(taken []allocation, key string) allocation {
	for _, each := range taken {
		if slices.Contains(keysOf([]allocation{each}), key) {
			return each
		}
	}
	return allocation{}
}

// keysOf returns "<subnet>/<address>" of each address.
func keysOf(taken []allocation) []string {
	keys := []string{}
	for _, each := range taken {
		for _, address := range each.Addresses {
			keys = append(keys, each.Subnet+"/"+address)
		}
	}
	return keys
}

func (parts *partitions) addPod(each *operation) {
	parts.pods[each.Pod] = append(parts.pods[each.Pod], step{operation: each})
}

func (parts *partitions) addAddress(key string, each step) {
	parts.addresses[key] = append(parts.addresses[key], each)
}

func check(what string, model porcupine.Model, steps []step, note noteFunc) {
	operations := make([]porcupine.Operation, len(steps))
	for i, each := range steps {
		operations[i] = porcupine.Operation{ClientId: each.Client, Input: each, Call: each.Start, Return: each.End}
	}
	switch porcupine.CheckOperationsTimeout(model, operations, checkWithin) {
	case porcupine.Illegal:
		note("%s: no order of its %d operations explains their answers:%s", what, len(steps), describeSteps(model, steps))
	case porcupine.Unknown:
		note("%s: undecided after %s, with %d operations", what, checkWithin, len(steps))
	}
}

// describeSteps lists the shortest beginning of a history that no order explains.
func describeSteps(model porcupine.Model, steps []step) string {
	sorted := slices.Clone(steps)
	slices.SortFunc(sorted, func(a, b step) int { return cmp.Compare(a.Start, b.Start) })
	explained := func(count int) bool {
		operations := []porcupine.Operation{}
		for _, each := range sorted[:count] {
			operations = append(operations, porcupine.Operation{Input: each, Call: each.Start, Return: each.End})
		}
		return porcupine.CheckOperationsTimeout(model, operations, checkWithin) != porcupine.Illegal
	}
	count := sort.Search(len(sorted)-1, func(i int) bool { return !explained(i + 1) }) + 1
	text := ""
	for _, each := range sorted[max(0, count-12):count] {
		text += "\n      " + each.describe()
	}
	return text
}

func (each *operation) describe() string {
	inner, _ := json.Marshal(each)
	return fmt.Sprintf("%s %s", each.Kind, inner)
}

package main

import "slices"

// refusals has the codes that each kind of call may be refused with, as docs/error-codes.md explains them. The clients send only valid
// requests for Subnets that exist, so other codes are wrong answers. The models explain those that the state of one object causes.
var refusals = map[string][]string{
	"allocate": {
		"ADDRESS_IN_USE", "ADDRESS_QUARANTINED", "ADDRESS_RESERVED", "POD_SUPERSEDED", "REQUEST_OUTDATED", "SUBNET_FULL",
	},
	"bind":      {"ADDRESS_ANSWERING", "NOT_ALLOCATED"},
	"attach":    {"ADDRESS_ANSWERING", "NOT_ALLOCATED", "NOT_REQUESTED"},
	"reserve":   {"ADDRESS_IN_USE", "ADDRESS_QUARANTINED", "ADDRESS_RESERVED"},
	"getSubnet": {"SUBNET_UNKNOWN"},
}

// checkRefusals checks that each refusal has a code that its request can cause.
func checkRefusals(operations []operation, note noteFunc) {
	for _, each := range operations {
		if each.Outcome == "refused" && !slices.Contains(refusals[each.Kind], each.Code) {
			note("%s: no such request is refused with %s", each.describe(), each.Code)
		}
	}
}

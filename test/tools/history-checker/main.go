// Command history-checker judges a history of calls to several allocators on one ledger. It shares no code with the ledger, and
// is written from docs/architecture.md, docs/audit.md and docs/guarantees.md.
//
// It reads lines of JSON from stdin: operations, the log, the claims in etcd, and the events that streams delivered. It checks that
//   - the operations are linearizable, by Porcupine, for each address, each Pod name and each Subnet;
//   - each answer is true at its position in the log, and contains all that was answered before its call;
//   - each refusal has a code that its request can cause;
//   - the log is one dense chain in which each event may follow those before it, and the claims are its fold;
//   - each stream delivered the log: dense, in order, complete commands, the same bytes.
//
// It prints one object with counts and the violations.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type report struct {
	Operations int `json:"operations"`
	// Unknown counts the operations without an answer.
	Unknown    int      `json:"unknown"`
	Events     int      `json:"events"`
	Claims     int      `json:"claims"`
	Deliveries int      `json:"deliveries"`
	Partitions int      `json:"partitions"`
	Violations []string `json:"violations"`
}

// maxViolations keeps the report readable: one bug often shows many times.
const maxViolations = 50

func main() {
	recorded, err := readHistory(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "history-checker: ", err)
		os.Exit(2)
	}
	found := report{
		Operations: len(recorded.operations),
		Events:     len(recorded.log),
		Claims:     len(recorded.claims),
		Deliveries: len(recorded.watched),
		Violations: []string{},
	}
	for _, each := range recorded.operations {
		if each.Outcome == "unknown" {
			found.Unknown++
		}
	}
	note := func(format string, values ...any) {
		if len(found.Violations) < maxViolations {
			found.Violations = append(found.Violations, fmt.Sprintf(format, values...))
		}
	}
	read := readLog(recorded.log, note)
	checkPositions(recorded.operations, read, note)
	checkReads(recorded.operations, read, note)
	checkRefusals(recorded.operations, note)
	checkClaims(recorded.claims, read, note)
	checkStreams(recorded.watched, read, note)
	found.Partitions = checkLinearizable(recorded.operations, read, note)
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		fmt.Fprintln(os.Stderr, "history-checker: ", err)
		os.Exit(2)
	}
}

package main

// Tests the text of errors, which kubelet copies into an Event of the Pod.

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestErrorsHaveNoCharacterThatATerminalObeys(t *testing.T) {
	hostile := "a\u001b[2J\u202eb\u009bc\u200bd\ne"
	body, _ := json.Marshal(map[string]string{"Err": hostile, "error": hostile})
	agent := startAgent(t, 500, string(body))
	quoted, _ := json.Marshal(hostile)
	chained := with(macvlan("1.0.0", agent.socket, ""), `"prevResult":{"cniVersion":"1.0.0","interfaces":[{"name":`+string(quoted)+`}]}`)
	for name, config := range map[string]string{
		"of the agent":                  macvlan("1.0.0", agent.socket, ""),
		"that quotes the configuration": with(macvlan("1.0.0", agent.socket, ""), `"name":`+string(quoted)),
		"that quotes a result":          chained,
	} {
		stdout, exitCode := run(t, "ADD", config)
		if exitCode == 0 {
			t.Errorf("%s: no error: %s", name, stdout)
		}
		var failed struct{ Msg, Details string }
		if err := json.Unmarshal([]byte(stdout), &failed); err != nil {
			t.Fatal(err)
		}
		text := failed.Msg + failed.Details
		if at := strings.IndexFunc(text, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }); at >= 0 {
			t.Errorf("%s: %q", name, text)
		}
	}
	stdout, _ := run(t, "ADD", macvlan("1.0.0", agent.socket, ""))
	if !strings.Contains(compact(t, stdout), `a\\u001b[2J\\u202eb\\u009bc\\u200bd\\u000ae`) {
		t.Errorf("the error of the agent: %s", stdout)
	}
}

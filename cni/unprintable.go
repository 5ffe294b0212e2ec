package main

import (
	"fmt"
	"strings"
	"unicode"
)

// printable escapes control, bidirectional and invisible characters, as the node agent does. Errors quote texts of tenants, and
// kubelet copies them into Events, which terminals show.
func printable(text string) string {
	var escaped strings.Builder
	for _, character := range text {
		if unicode.In(character, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			fmt.Fprintf(&escaped, `\u%04x`, character)
		} else {
			escaped.WriteRune(character)
		}
	}
	return escaped.String()
}

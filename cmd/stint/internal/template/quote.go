package template

import (
	"slices"
	"strings"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// reserved are bare words that a shell does not read as the name of a command.
var reserved = strings.Fields("if then elif else fi case in esac for select while until do done function time coproc ]]")

// Quote returns args as one printable line that bash reads as args. Any POSIX
// shell does, unless args have an unprintable byte, which the line has as $'\001'.
func Quote(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = console.Quote(arg)
		// console.Quote leaves a{b,c} bare, which is two words for bash; {} is one.
		if bare := words[i] == arg; bare && (strings.Contains(arg, "{") && arg != "{}" || i == 0 && slices.Contains(reserved, arg)) {
			words[i] = "'" + arg + "'"
		}
	}
	return strings.Join(words, " ")
}

package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/template"
)

// operators are words that tell a shell what to do. A program gets them as arguments, which is
// right for some.
var (
	operators    = strings.Fields("> >> < << <<< | |& || && ; & >| 2> 2>> 2>&1 >&2 &> &>>")
	withOperator = strings.Fields("[ ack ag egrep expr fgrep find grep rg ssh test tr zgrep")
)

// Warn calls warn with what is perhaps not what the user wants.
func (c *Command) Warn(warn func(string)) {
	s := &c.spec
	if !s.Shell && !slices.ContainsFunc(s.Command, func(w string) bool { return slices.Contains(withOperator, filepath.Base(w)) }) {
		i := slices.IndexFunc(s.Command, func(w string) bool { return slices.Contains(operators, w) })
		if i > 0 && !strings.HasPrefix(s.Command[i-1], "-") { // not the value of an option
			warn(console.Quote(s.Command[i]) + " is an argument of the command; a command for the shell needs -s (--shell)")
		}
	}
	if c.template != nil {
		return
	}
	if c.script != nil && !s.Pipe && c.script.Constant() {
		warn(`the script names no item, by {} or "$1": all jobs are the same`)
	}
	known := functions(s.Variables())
	for _, name := range functions(os.Environ()) {
		switch {
		case !s.mayCall(name):
		case !slices.Contains(known, name):
			if c.script != nil {
				warn("workers do not have the function " + name + ": pass it by --env " + template.Quote([]string{"BASH_FUNC_" + name + "%%"}))
			}
		case !strings.HasPrefix(filepath.Base(c.name), "bash") && (c.script != nil || os.Getenv("STINT_SHELL") == ""):
			warn("scripts are for " + console.Quote(c.name) + ", which does not know the function " + name + " of bash")
		}
	}
}

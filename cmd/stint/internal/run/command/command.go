// Package command makes the command of each job: its arguments, its variables and its program.
package command

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/process"
	"github.com/stint-go/stint/cmd/stint/internal/server"
	"github.com/stint-go/stint/cmd/stint/internal/template"
)

// A Spec is what the user wants to run.
type Spec struct {
	Command []string // with placeholders; empty: each input is a command for the shell
	Shell   bool     // it is a script
	Pipe    bool     // jobs have no items, but blocks of standard input
	Replace string   // what stands for the items; {} unless given
	Dir     string   // where jobs run
	Remote  bool     // workers run it
	Env     []string // names of variables that workers get
}

// A Command makes the command of each job. It must be made by New or Received.
type Command struct {
	spec     Spec
	template *template.Template // nil: jobs are scripts
	script   *template.Script   // nil: the item is the script
	name     string             // of the program, if it is the same for all jobs
	path     string             // of name, or of the shell
	env      []string
}

// New returns the command of s.
func New(s Spec) *Command { return newCommand(s, "") }

// Received returns the command of s that a worker has received, with the name of its shell, or "",
// and variables.
func Received(s Spec, shell string, env []string) *Command {
	c := newCommand(s, shell)
	c.env = setVariables(c.env, env)
	return c
}

func newCommand(s Spec, shell string) *Command {
	c := &Command{spec: s, env: server.Environ()}
	if shell == "" && (s.Shell || len(s.Command) == 0) {
		shell = s.shell()
	}
	switch {
	case len(s.Command) == 0 && !s.Pipe:
		c.name = shell
	case s.Shell:
		c.name, c.script = shell, template.ParseScript(s.Command, s.Replace)
	default:
		c.template = template.Parse(s.Command, s.Replace)
		if first := template.Parse(s.Command[:1], s.Replace).Expand([]string{"item"}, 1, 1); len(first) == 2 && first[0] == s.Command[0] {
			c.name = s.Command[0]
		}
	}
	return c
}

// Set gives variables another value in jobs.
func (c *Command) Set(variables ...string) { c.env = setVariables(c.env, variables) }

// setVariables returns env with other values of some variables: programs may see the first or
// the last of two values.
func setVariables(env, some []string) []string {
	for _, variable := range some {
		name, _, _ := strings.Cut(variable, "=")
		env = slices.DeleteFunc(env, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	}
	return append(env, some...)
}

// Program returns the name of the program, that of the shell without its directory for scripts, by
// which a worker permits the command. It is "" if it differs from job to job.
func (c *Command) Program() string {
	if c.template == nil {
		return filepath.Base(c.name)
	}
	return c.name
}

// IsOneOf reports whether the command, or its shell, is one of the named programs for all jobs.
func (c *Command) IsOneOf(programs []string) bool { return slices.Contains(programs, c.name) }

// HasPlace reports whether the command has a place for items, so that none are appended and none
// are missing.
func (c *Command) HasPlace() bool {
	switch {
	case c.template != nil:
		return len(c.template.Expand([]string{""}, 1, 1)) == len(c.spec.Command)
	case c.script != nil:
		return !c.script.Constant()
	}
	return true
}

// IsConstant reports whether the command is a script that does the same for all items.
func (c *Command) IsConstant() bool { return c.script != nil && !c.spec.Pipe && c.script.Constant() }

// shell returns the shell of scripts: that of the user, unless its syntax is another one, or
// bash if they may call a function that it has exported.
func (s *Spec) shell() string {
	if own := os.Getenv("STINT_SHELL"); own != "" {
		return own
	}
	shell := os.Getenv("SHELL")
	if filepath.Base(shell) != "bash" && slices.ContainsFunc(functions(s.Variables()), s.mayCall) {
		if _, err := look("bash", ""); err == nil {
			return "bash"
		}
	}
	if shell == "" || slices.Contains([]string{"fish", "csh", "tcsh", "nu", "elvish", "pwsh"}, filepath.Base(shell)) {
		return "sh"
	}
	return shell
}

// functions returns the names of the functions that bash has put into env.
func functions(env []string) []string {
	var names []string
	for _, v := range env {
		if name, ok := strings.CutPrefix(v, "BASH_FUNC_"); ok {
			name, _, _ = strings.Cut(name, "=")
			names = append(names, strings.TrimRight(name, "%()"))
		}
	}
	return names
}

// mayCall reports whether scripts may call a function: one that has its name as a word, or an item.
func (s *Spec) mayCall(function string) bool {
	isEnd := func(c rune) bool { return strings.ContainsRune(" \t\n;&|(){}<>`$\"'", c) }
	return len(s.Command) == 0 || slices.Contains(strings.FieldsFunc(strings.Join(s.Command, " "), isEnd), function)
}

// Variables returns the variables of this process that jobs get.
func (s *Spec) Variables() []string {
	if !s.Remote {
		return os.Environ()
	}
	var env []string
	for _, name := range s.Env {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Find looks the program up, unless it differs from job to job: then it refuses a name with
// blanks that is no file. An error is an ExitError, with the
// exit status of shells.
func (c *Command) Find() error {
	if dir := c.spec.Dir; dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return &console.ExitError{Status: 1, Message: "--cwd " + console.Quote(dir) + ": " + console.Reason(cmp.Or(err, error(syscall.ENOTDIR)))}
		}
	}
	if c.name == "" {
		name := c.spec.Command[0]
		if _, err := look(name, c.spec.Dir); err == nil || !isScript(name) {
			return nil
		}
		return advise(name, 127, "not a program") // before a job fails for each item
	}
	path, err := look(c.name, c.spec.Dir)
	if err != nil {
		return advise(c.name, notFound(err), console.Reason(err))
	}
	c.path = path
	return nil
}

// advise returns why a program is not executed, and how to run a name that is a command for the
// shell, or a function of bash.
func advise(name string, status int, reason string) error {
	e := &console.ExitError{Status: status, Message: console.Quote(name) + ": " + reason}
	switch {
	case slices.Contains(functions(os.Environ()), name):
		e.Message += "; a function of the shell needs -s: " + template.Quote([]string{name + " {}"})
	case isScript(name):
		e.Message += "; a command for the shell needs -s (--shell)"
	}
	return e
}

// isScript reports whether a name is more likely to be a command for the shell.
func isScript(name string) bool { return strings.ContainsAny(name, " \t\n|;&<>$") }

// Make returns the command of a job. An error is an ExitError.
func (c *Command) Make(items []string, seq int64, slot int) (*process.Command, error) {
	args, env := c.expand(items, seq, slot)
	path := c.path
	if path == "" {
		var err error
		if path, err = look(args[0], c.spec.Dir); err != nil {
			return nil, advise(args[0], notFound(err), console.Reason(err))
		}
	}
	return &process.Command{Path: path, Args: args, Env: append(slices.Clip(c.env), env...), Dir: c.spec.Dir}, nil
}

// expand returns the arguments of a job, the program first, and the variables that it needs.
// If seq or slot is 0, its placeholder stays.
func (c *Command) expand(items []string, seq int64, slot int) (args, env []string) {
	if c.template != nil {
		return c.template.Expand(items, seq, slot), nil
	}
	name := filepath.Base(c.name)
	if c.script == nil {
		return []string{name, "-c", strings.Join(items, " ")}, nil
	}
	text, env := c.script.Expand(items, seq, slot)
	return append([]string{name, "-c", text, "stint"}, items...), env
}

// Text returns the command of a job for the job log, which names the job: its number counts only if
// the command has it, and its slot never does.
func (c *Command) Text(items []string, seq int64) string {
	args, env := c.expand(items, seq, 0)
	switch {
	case c.template != nil:
		return template.Quote(args)
	case c.script == nil:
		return args[2]
	}
	text := template.Quote(append([]string{args[2]}, items...))
	if i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "STINT_SEQ=") }); i >= 0 {
		text = env[i] + " " + text
	}
	return text
}

// Told returns the command of a job for a message: what the user wrote, and the items.
func (c *Command) Told(items []string, seq int64) string {
	if c.script != nil {
		return c.script.Fill(items, seq)
	}
	return c.Shown(items, seq)
}

// Shown returns the command of a job as one that a shell would run.
func (c *Command) Shown(items []string, seq int64) string {
	args, env := c.expand(items, seq, 1)
	switch {
	case c.template != nil:
		return template.Quote(args)
	case c.script == nil:
		return console.Visible(args[2])
	}
	line := template.Quote(args)
	for _, v := range slices.Backward(env) {
		name, value, _ := strings.Cut(v, "=")
		line = name + "=" + template.Quote([]string{value}) + " " + line
	}
	return line
}

package run

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/process"
	"github.com/stint-go/stint/cmd/stint/internal/template"
)

// A command makes the command of each job.
type command struct {
	template *template.Template // nil: jobs are scripts
	script   *template.Script   // nil: the item is the script
	name     string             // of the program, if it is the same for all jobs
	first    string             // its name with placeholders, otherwise
	path     string             // of name, or of the shell
	dir      string             // where jobs run
	env      []string
}

// newCommand returns the command of o.
func newCommand(o *Options) command {
	c := command{dir: o.Dir, env: os.Environ()}
	switch {
	case len(o.Command) == 0 && !o.Pipe:
		c.name = shell()
	case o.Shell:
		c.name, c.script = shell(), template.ParseScript(o.Command, o.Replace)
	default:
		c.template = template.Parse(o.Command, o.Replace)
		if first := template.Parse(o.Command[:1], o.Replace).Expand([]string{"item"}, 1, 1); len(first) == 2 && first[0] == o.Command[0] {
			c.name = o.Command[0]
		} else {
			c.first = o.Command[0]
		}
	}
	return c
}

// program returns the name by which a worker permits the command.
func (c *command) program() string {
	if c.template == nil {
		return filepath.Base(c.name)
	}
	return c.name
}

// shell returns the shell of scripts: that of the user, unless its syntax is another one.
func shell() string {
	if s := os.Getenv("STINT_SHELL"); s != "" {
		return s
	}
	s := os.Getenv("SHELL")
	if s == "" || slices.Contains([]string{"fish", "csh", "tcsh", "nu", "elvish", "pwsh"}, filepath.Base(s)) {
		return "sh"
	}
	return s
}

// find looks the program up, unless it differs from job to job. The error has the exit status
// of shells.
func (c *command) find() error {
	if c.dir != "" {
		if info, err := os.Stat(c.dir); err != nil || !info.IsDir() {
			return &ExitError{Status: 1, Message: "--cwd " + console.Quote(c.dir) + ": " + console.Reason(cmp.Or(err, error(syscall.ENOTDIR)))}
		}
	}
	if c.name == "" {
		return c.refuseScript()
	}
	path, err := look(c.name, c.dir)
	if err == nil {
		c.path = path
		return nil
	}
	e := &ExitError{Status: notFound(err), Message: console.Quote(c.name) + ": " + console.Reason(err)}
	return e.advise(c.name)
}

// refuseScript refuses a program whose name has placeholders and blanks and is no file, before
// a job fails for each item.
func (c *command) refuseScript() error {
	if c.first == "" || !isScript(c.first) {
		return nil
	}
	if _, err := look(c.first, c.dir); err == nil {
		return nil
	}
	e := &ExitError{Status: 127, Message: console.Quote(c.first) + ": not a program"}
	return e.advise(c.first)
}

// advise adds how to run a name that is a command for the shell, or a function of bash.
func (e *ExitError) advise(name string) *ExitError {
	_, isFunction := os.LookupEnv("BASH_FUNC_" + name + "%%")
	switch {
	case isFunction:
		e.Message += "; a function of the shell needs -s"
	case isScript(name):
		e.Message += "; a command for the shell needs -s (--shell)"
	}
	return e
}

// isScript reports whether a name is more likely to be a command for the shell.
func isScript(name string) bool { return strings.ContainsAny(name, " \t\n|;&<>$") }

// look returns the path of a program for jobs that run in dir.
func look(name, dir string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) && dir != "" {
			_, err := exec.LookPath(filepath.Join(dir, name))
			return name, plain(err)
		}
		_, err := exec.LookPath(name)
		return name, plain(err)
	}
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) { // the user's PATH has the current directory
		err = nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		for _, d := range filepath.SplitList(os.Getenv("PATH")) {
			if info, err := os.Stat(filepath.Join(d, name)); err == nil && info.Mode().IsRegular() {
				return "", fs.ErrPermission
			}
		}
		return "", errNotFound
	}
	if err == nil && !filepath.IsAbs(path) {
		path, err = filepath.Abs(path)
	}
	return path, plain(err)
}

var errNotFound = errors.New("command not found")

// plain returns the reason of an error of exec.LookPath.
func plain(err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return e.Err
	}
	return err
}

// notFound returns the exit status of a command that cannot be executed.
func notFound(err error) int {
	if errors.Is(err, errNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// make returns the command of j.
func (c *command) make(j *job, slot int) (*process.Command, error) {
	args, env := c.expand(j, j.seq, slot)
	path := c.path
	if path == "" {
		var err error
		if path, err = look(args[0], c.dir); err != nil {
			e := &ExitError{Status: notFound(err), Message: console.Quote(args[0]) + ": " + console.Reason(err)}
			return nil, e.advise(args[0])
		}
	}
	return &process.Command{Path: path, Args: args, Env: append(slices.Clip(c.env), env...)}, nil
}

// expand returns the arguments of a job, the program first, and the variables that it needs.
// If seq or slot is 0, its placeholder stays.
func (c *command) expand(j *job, seq int64, slot int) (args, env []string) {
	if c.template != nil {
		return c.template.Expand(j.items, seq, slot), nil
	}
	name := filepath.Base(c.name)
	if c.script == nil {
		return []string{name, "-c", strings.Join(j.items, " ")}, nil
	}
	text, env := c.script.Expand(j.items, seq, slot)
	return append([]string{name, "-c", text, "stint"}, j.items...), env
}

// text returns the command of j for the job log, which names the job: its number counts only if
// the command has it, and its slot never does.
func (c *command) text(j *job) string {
	args, env := c.expand(j, j.seq, 0)
	switch {
	case c.template != nil:
		return template.Quote(args)
	case c.script == nil:
		return args[2]
	}
	text := template.Quote(append([]string{args[2]}, j.items...))
	if i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "STINT_SEQ=") }); i >= 0 {
		text = env[i] + " " + text
	}
	return text
}

// told returns the command of j for a message: what the user wrote, and the items.
func (c *command) told(j *job) string {
	if c.script != nil {
		return c.script.Fill(j.items, j.seq)
	}
	return c.shown(j)
}

// shown returns the command of j as one that a shell would run.
func (c *command) shown(j *job) string {
	args, env := c.expand(j, j.seq, 1)
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

package run

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/process"
	"github.com/stint-go/stint/cmd/stint/internal/server"
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
	c := command{dir: o.Dir, env: server.Environ()}
	switch {
	case len(o.Command) == 0 && !o.Pipe:
		c.name = o.shell()
	case o.Shell:
		c.name, c.script = o.shell(), template.ParseScript(o.Command, o.Replace)
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

// shell returns the shell of scripts: that of the user, unless its syntax is another one, or
// bash if they may call a function that it has exported.
func (o *Options) shell() string {
	if s := os.Getenv("STINT_SHELL"); s != "" {
		return s
	}
	s := os.Getenv("SHELL")
	if filepath.Base(s) != "bash" && slices.ContainsFunc(functions(o.jobEnv()), o.mayCall) {
		if _, err := look("bash", ""); err == nil {
			return "bash"
		}
	}
	if s == "" || slices.Contains([]string{"fish", "csh", "tcsh", "nu", "elvish", "pwsh"}, filepath.Base(s)) {
		return "sh"
	}
	return s
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
func (o *Options) mayCall(function string) bool {
	isEnd := func(c rune) bool { return strings.ContainsRune(" \t\n;&|(){}<>`$\"'", c) }
	return len(o.Command) == 0 || slices.Contains(strings.FieldsFunc(strings.Join(o.Command, " "), isEnd), function)
}

// jobEnv returns the variables of this process that jobs get.
func (o *Options) jobEnv() []string {
	if o.Server.URL == "" {
		return os.Environ()
	}
	var env []string
	for _, name := range o.Env {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
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

// look returns the path of a program for jobs that run in dir.
func look(name, dir string) (path string, err error) {
	if strings.Contains(name, "/") {
		path = name
		if err = executable(inDir(name, dir)); err == nil {
			err = interpreted(inDir(name, dir), dir)
		}
		return path, err
	}
	path, err = exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) { // the user's PATH has the current directory
		err = nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		path, err = "", errNotFound
		for _, d := range filepath.SplitList(searchPath()) {
			found := filepath.Join(d, name)
			if executable(found) == nil {
				path, err = found, nil // exec.LookPath does not look there
				break
			}
			if info, failed := os.Stat(found); failed == nil && info.Mode().IsRegular() {
				err = fs.ErrPermission
			}
		}
	}
	if err == nil && !filepath.IsAbs(path) {
		path, err = filepath.Abs(path)
	}
	if err == nil {
		err = interpreted(path, dir)
	}
	return path, plain(err)
}

// searchPath returns the directories where programs are looked up.
func searchPath() string {
	if path, ok := os.LookupEnv("PATH"); ok {
		return path
	}
	return defaultPath
}

// inDir returns a path for this process of a file for one that runs in dir. It has a slash.
func inDir(name, dir string) string {
	if filepath.IsAbs(name) || dir == "" && strings.Contains(name, "/") {
		return name
	}
	return cmp.Or(dir, ".") + "/" + name
}

// executable returns an error if path is not of a program.
func executable(path string) error {
	_, err := exec.LookPath(path)
	return plain(err)
}

// interpreted returns an error if path is of a script whose interpreter cannot be executed: that
// of the system would name the script.
func interpreted(path, dir string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // a program need not be readable
	}
	defer f.Close()
	line := make([]byte, 256) // as much as Linux reads
	n, _ := f.Read(line)
	text, ok := strings.CutPrefix(string(line[:n]), "#!")
	text, _, _ = strings.Cut(text, "\n")
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if !ok || len(words) == 0 {
		return nil
	}
	if err := executable(inDir(words[0], dir)); err != nil {
		return &interpreterError{words[0], err}
	}
	return nil
}

// An interpreterError says that the interpreter of a script cannot be executed.
type interpreterError struct {
	name string
	err  error
}

// Error returns the message.
func (e *interpreterError) Error() string {
	return "its interpreter " + console.Quote(e.name) + ": " + console.Reason(e.err)
}

// Is reports whether err is the reason. There is no Unwrap: the reason alone names nothing.
func (e *interpreterError) Is(err error) bool { return errors.Is(e.err, err) }

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

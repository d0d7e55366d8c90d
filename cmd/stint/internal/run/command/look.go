package command

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

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

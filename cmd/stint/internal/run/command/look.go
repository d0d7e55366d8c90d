package command

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

var errNotFound = errors.New("command not found")

// look returns the path of a program for jobs that run in dir, as execvp(3) finds it.
func look(name, dir string) (string, error) {
	if strings.Contains(name, "/") {
		path := name
		if dir != "" && !filepath.IsAbs(name) {
			path = dir + "/" + name
		}
		_, err := exec.LookPath(path)
		return name, plain(err)
	}
	search, ok := os.LookupEnv("PATH")
	if !ok {
		search = defaultPath
	}
	err := errNotFound
	for _, d := range filepath.SplitList(search) {
		path, failed := exec.LookPath(cmp.Or(d, ".") + "/" + name)
		switch {
		case failed == nil:
			return filepath.Abs(path)
		case errors.Is(failed, fs.ErrPermission):
			err = fs.ErrPermission
		}
	}
	return "", err
}

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

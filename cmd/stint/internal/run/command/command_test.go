package command

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// script writes an executable file, and returns its path.
func script(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestShell has scripts that call a function of bash, or none, in many environments.
func TestShell(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no executable bit")
	}
	with, without := t.TempDir(), t.TempDir()
	script(t, filepath.Join(with, "bash"), "#!/bin/sh\n")
	const variable, call = "BASH_FUNC_f%%", "echo; f {}"
	for _, test := range []struct {
		variable, own, login, path string // the function, STINT_SHELL, SHELL and PATH
		script                     string // empty: items are scripts
		cluster                    bool
		env                        []string // of --env
		want                       string
	}{
		{"", "", "", with, call, false, nil, "sh"},
		{"", "", "/bin/zsh", with, call, false, nil, "/bin/zsh"},
		{"", "", "/usr/bin/fish", with, call, false, nil, "sh"},
		{"", "dash", "/bin/zsh", with, call, false, nil, "dash"},
		{variable, "", "", with, call, false, nil, "bash"},
		{variable, "", "", with, "", false, nil, "bash"},
		{variable, "", "/bin/zsh", with, call, false, nil, "bash"},
		{variable, "", "/bin/zsh", with, "echo {}", false, nil, "/bin/zsh"}, // as environment-modules exports some everywhere
		{variable, "", "/opt/bash", with, call, false, nil, "/opt/bash"},
		{"BASH_FUNC_f()", "", "", with, call, false, nil, "bash"},
		{variable, "", "", without, call, false, nil, "sh"},
		{variable, "dash", "", with, call, false, nil, "dash"},
		{variable, "", "/bin/zsh", with, call, true, nil, "/bin/zsh"},
		{variable, "", "/bin/zsh", with, call, true, []string{variable}, "bash"},
	} {
		t.Setenv("STINT_SHELL", test.own)
		t.Setenv("SHELL", test.login)
		t.Setenv("PATH", test.path)
		for _, name := range []string{variable, "BASH_FUNC_f()"} {
			t.Setenv(name, "() { :; }")
			if name != test.variable {
				os.Unsetenv(name)
			}
		}
		spec := Spec{Shell: test.script != "", Remote: test.cluster, Env: test.env}
		if test.script != "" {
			spec.Command = []string{test.script}
		}
		if got := New(spec).name; got != test.want {
			t.Errorf("%+v: the shell is %s", test, got)
		}
	}
}

// TestLook looks programs up.
func TestLook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is neither an executable bit nor a default path")
	}
	dir, elsewhere := t.TempDir(), t.TempDir()
	t.Chdir(elsewhere)
	sh := script(t, filepath.Join(dir, "here"), "#!/bin/sh\n")
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path      string // "unset" is none
		name, dir string
		want      string // an error
		status    int
	}{
		{"unset", "sh", "", "", 0},
		{"unset", "sh", dir, "", 0},
		{"unset", "no-such-program", "", "command not found", 127},
		{"", "sh", "", "command not found", 127},
		{dir, "here", "", "", 0},
		{dir, "plain", "", "permission denied", 126},
		{"", sh, "", "", 0},
		{"", "./here", dir, "", 0},
		{elsewhere, "./here", "", "No such file or directory", 127},
	} {
		t.Setenv("PATH", test.path)
		if test.path == "unset" {
			os.Unsetenv("PATH")
		}
		_, err := look(test.name, test.dir)
		got, status := "", 0
		if err != nil {
			got, status = console.Reason(err), notFound(err)
		}
		if got != test.want || status != test.status {
			t.Errorf("%+v: %q, status %d", test, got, status)
		}
	}
}

// TestJobsHaveNoSecrets wants an environment of jobs, here and on a worker, without what lets
// a client in.
func TestJobsHaveNoSecrets(t *testing.T) {
	for url, want := range map[string]string{
		"nats://s3cret@h:1": "nats://h:1", "nats://ann:s3cret@h:1,tls://s3cret@i": "nats://h:1,tls://i", "ann:s3cret@h": "h", "nats://h:1": "nats://h:1",
	} {
		t.Setenv("STINT_TOKEN", "s3cret")
		t.Setenv("STINT_CLUSTER", url)
		t.Setenv("STINT_OTHER", "kept")
		env := New(Spec{Command: []string{"a"}}).env
		if !slices.Contains(env, "STINT_CLUSTER="+want) || !slices.Contains(env, "STINT_OTHER=kept") || strings.Contains(strings.Join(env, "\n"), "s3cret") {
			t.Errorf("%s: %q; want no secret, and all else", url, env)
		}
	}
}

// Command release writes one version into the modules of this repository, packs them as
// the module proxy would, and does with them what users will do: from empty directories,
// with an empty module cache, without a workspace and without replace lines. If all of
// it works and it is not a rehearsal, it commits the versions and tags the modules. It
// pushes nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

func main() {
	rehearse := flag.Bool("rehearse", false, "change nothing in the repository")
	root := flag.String("root", ".", "the `directory` of the repository")
	flag.Parse()
	if err := run(*root, flag.Args(), *rehearse); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(root string, args []string, rehearse bool) error {
	if len(args) != 1 || semver.Canonical(args[0]) != args[0] || semver.Build(args[0]) != "" {
		return fmt.Errorf("want one version, such as v0.1.0, not %q", args)
	}
	version := args[0]
	if err := releasable(root, version); err != nil {
		if !rehearse {
			return err
		}
		fmt.Println("not in a rehearsal:", err)
	}
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tree := filepath.Join(dir, "tree")
	if err := command(root, nil, "git", "clone", "--quiet", ".", tree); err != nil {
		return err
	}
	p := &proxy{dir: filepath.Join(dir, "proxy"), tree: tree, cache: filepath.Join(dir, "cache"), version: version}
	if err := p.write(); err != nil {
		return err
	}
	for _, m := range modules {
		if err := p.add(m); err != nil {
			return fmt.Errorf("%s: %w", m.path(), err)
		}
	}
	u := &user{dir: filepath.Join(dir, "user"), env: p.env(), version: version, tree: tree}
	if err := u.all(); err != nil {
		return err
	}
	if rehearse {
		fmt.Println("rehearsed", version)
		return nil
	}
	return tag(root, tree, version)
}

// releasable reports what keeps the repository from being released.
func releasable(root, version string) error {
	out, err := output(root, "git", "status", "--porcelain")
	if err == nil && out != "" {
		err = fmt.Errorf("there are changes that are not committed:\n%s", out)
	}
	log, readErr := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	heading := "## [" + strings.TrimPrefix(version, "v") + "]"
	if readErr == nil && !strings.Contains(string(log), "\n"+heading+" ") {
		readErr = fmt.Errorf("CHANGELOG.md has no heading %q with a date", heading)
	}
	return errors.Join(err, readErr)
}

// tag commits what was written into the tree, and tags the commit once for each module.
func tag(root, tree, version string) error {
	names := []string{"go.work"}
	for _, m := range modules {
		names = append(names, filepath.Join(m.dir, "go.mod"), filepath.Join(m.dir, "go.sum"))
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(tree, name))
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), text, 0o666)
		}
		if err != nil {
			return err
		}
	}
	if err := command(root, nil, "git", "commit", "--quiet", "--all", "-m", "all: release "+version); err != nil {
		return err
	}
	push := "git push --atomic origin HEAD"
	for _, m := range modules {
		name := m.tag(version)
		if err := command(root, nil, "git", "tag", "-a", name, "-m", name); err != nil {
			return err
		}
		push += " " + name
	}
	fmt.Println("tagged. When .ci/run has passed on this commit:\n\n   ", push)
	return nil
}

// command runs a command in dir with a changed environment, and shows it.
func command(dir string, env []string, args ...string) error {
	fmt.Println("+", strings.Join(args, " "))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// output returns what a command prints.
func output(dir string, args ...string) (string, error) { return outputIn(dir, nil, args...) }

// outputIn returns what a command prints in a changed environment.
func outputIn(dir string, env []string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stderr, cmd.Env = dir, os.Stderr, append(os.Environ(), env...)
	out, err := cmd.Output()
	return string(out), err
}

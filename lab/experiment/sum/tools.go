package sum

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// packages are the tools that are compared with, by the package that has them.
var packages = []struct {
	name  string
	tools []string
}{
	{"GNU coreutils", []string{"sha256sum", "md5sum", "sort"}},
	{"GNU findutils", []string{"find", "xargs"}},
}

// findTools checks that the tools are installed and GNU's, and returns a line
// on each package with its version.
func findTools(ctx context.Context) ([]string, error) {
	if _, err := exec.LookPath("sh"); err != nil {
		return nil, fmt.Errorf("no shell to run the tools of GNU with: %w", err)
	}
	var versions []string
	for _, p := range packages {
		for _, tool := range p.tools {
			version, err := version(ctx, tool, p.name)
			if err != nil {
				return nil, err
			}
			if tool == p.tools[0] {
				versions = append(versions, version)
			}
		}
	}
	return versions, nil
}

// version is the first line of what a tool says about itself, which must name
// its package.
func version(ctx context.Context, tool, pkg string) (string, error) {
	out, err := exec.CommandContext(ctx, tool, "--version").Output()
	line, _, _ := strings.Cut(string(out), "\n")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil || !strings.Contains(line, pkg) {
		return "", fmt.Errorf("%s of %s not found, there is nothing to compare with: "+
			"install coreutils and findutils (on macOS and BSD also put the directories of their unprefixed names first in PATH)", tool, pkg)
	}
	return line, nil
}

package sum

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// packages are the compared tools by package.
var packages = []struct {
	name  string
	tools []string
}{
	{"GNU coreutils", []string{"sha256sum", "md5sum", "sort"}},
	{"GNU findutils", []string{"find", "xargs"}},
}

// findTools checks that the GNU tools are installed, and returns a line with
// the version of each package.
func findTools(ctx context.Context) ([]string, error) {
	if _, err := exec.LookPath("sh"); err != nil {
		return nil, fmt.Errorf("no shell to run the GNU tools with: %w", err)
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

// version returns the first line of a tool's version, which must name its
// package.
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

package items

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// flags returns the options of GNU parallel.
func flags(o Options) []string {
	all := []string{"-k", "-q", "-j" + strconv.Itoa(max(1, o.Jobs)), "--trim", "n"}
	if o.Trim {
		all[len(all)-1] = "lr"
	}
	for _, name := range o.Files {
		all = append(all, "-a", name)
	}
	switch {
	case o.Delimiter == 1:
		all = append(all, "-0")
	case o.Delimiter > 1:
		all = append(all, "-d", string(rune(o.Delimiter)))
	}
	if o.MaxArgs > 0 {
		all = append(all, "-n", strconv.Itoa(o.MaxArgs))
	}
	if o.ColSep != nil {
		all = append(all, "--colsep", o.ColSep.String())
	}
	if o.Fit {
		all = append(all, "-X")
	}
	all = append(all, "sh", "-c", `for a do printf '%s\0' "$a"; done; printf '\001\0'`, "sh")
	for _, list := range o.Lists {
		all = append(append(all, ":::"), list...)
	}
	return all
}

// TestSeqAsParallel compares the table with the program.
func TestSeqAsParallel(t *testing.T) {
	version, err := exec.Command("parallel", "--version").Output()
	if err != nil || !bytes.HasPrefix(version, []byte("GNU parallel")) || testing.Short() {
		t.Skip("no GNU parallel here, or no time")
	}
	testfiles.Dir(t, "ab", "a\nb\n", "cd", "c\nd", "none", "")
	home := t.TempDir()
	for _, test := range inputs {
		if test.differs != "" {
			continue
		}
		cmd := exec.Command("parallel", append([]string{"--will-cite"}, flags(test.o)...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "SHELL=/bin/sh")
		cmd.Stdin = strings.NewReader(test.stdin)
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		var got []string
		for job := range strings.SplitSeq(string(out), "\x01\x00") {
			if job != "" {
				got = append(got, strings.ReplaceAll(strings.TrimSuffix(job, "\x00"), "\x00", ","))
			}
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("parallel has %q for %q with %+v, the table %q; %v", got, test.stdin, test.o, test.want, err)
		}
	}
}

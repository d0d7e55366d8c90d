package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/sum"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// needCoreutils skips the test unless the tools that it compares with are the
// version whose behaviour stint promises.
func needCoreutils(t *testing.T) {
	t.Helper()
	for _, alg := range sum.Algorithms() {
		out, err := exec.Command(alg+"sum", "--version").Output()
		if err != nil || !bytes.Contains(out, []byte("(GNU coreutils) 9.1\n")) {
			t.Skipf("%ssum of GNU coreutils 9.1 is not installed: nothing to compare with", alg)
		}
	}
}

// real runs a tool of coreutils, in UTF-8, and returns what it wrote with the
// tool's name replaced by ours and without the hint that ends usage errors.
func real(t *testing.T, stdin, tool string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var out, errs strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), regexp.MustCompile(`(?m)^`+tool+`: `).ReplaceAllString(errs.String(), "stint: "), cmd.ProcessState.ExitCode()
}

// compare runs both tools on one command line and wants no difference.
func compare(t *testing.T, stdin string, alg string, args ...string) {
	t.Helper()
	wantOut, wantErr, wantStatus := real(t, stdin, alg+"sum", args...)
	out, errs, status := runStint(t, stdin, append([]string{"sum", "-a", alg}, args...)...)
	if out != wantOut {
		t.Errorf("%s %q: output %s", alg, args, difference(out, wantOut))
	}
	if errs != wantErr {
		t.Errorf("%s %q: messages %s", alg, args, difference(errs, wantErr))
	}
	if status != wantStatus {
		t.Errorf("%s %q: exit status %d, want %d", alg, args, status, wantStatus)
	}
}

// oddTree makes a tree of odd names in the working directory, with files of sizes around
// the sizes of blocks and buffers, and returns their paths.
func oddTree(t *testing.T) []string {
	t.Helper()
	t.Chdir(t.TempDir())
	random := rand.NewChaCha8([32]byte{1})
	var paths []string
	add := func(dir, name string, size int) {
		content := make([]byte, size)
		random.Read(content)
		path := filepath.Join(dir, name)
		testfiles.Write(t, path, string(content))
		paths = append(paths, path)
	}
	for i, dir := range []string{".", "directory", "new\nline directory", "directory/.hidden"} {
		must(t, os.MkdirAll(dir, 0o777))
		for j, name := range testfiles.OddNames {
			add(dir, name+"_", 37*i+j)
			if dir != "." || name[0] != '-' && name != "\n" {
				add(dir, name+strings.Repeat(".", i+1), 1+i*1000+j)
			}
		}
	}
	const block = 128 << 10 // read at a time
	for _, size := range []int{0, 1, 55, 56, 63, 64, 65, 127, 128, 4096, block - 1, block, block + 1, 3*block + 17, 1 << 20} {
		add("directory", fmt.Sprint("size ", size), size)
	}
	return paths
}

func TestSumLikeCoreutils(t *testing.T) {
	needCoreutils(t)
	paths := append(oddTree(t), "missing", "missing\nname", "directory/.hidden/missing'", "/proc/self/mem")
	for _, alg := range sum.Algorithms() {
		for i, style := range [][]string{{}, {"--tag"}, {"-z"}, {"-b"}, {"-t"}, {"-bt"}, {"-z", "--tag"}} {
			if i > 2 && alg != "sha256" { // how lines look does not depend on the algorithm
				break
			}
			compare(t, "", alg, append(append(style, "--"), paths...)...)
		}
		compare(t, "from standard input", alg, "-")
		compare(t, "from standard input", alg)
		compare(t, "from standard input", alg, "--tag", "-", "-")
	}
}

// TestWalkLikeFind compares a tree with find, sort and a coreutils tool.
func TestWalkLikeFind(t *testing.T) {
	needCoreutils(t)
	oddTree(t)
	must(t, os.Symlink("plain_", "directory/link"))
	for _, root := range []string{".", "directory", "directory/", "./directory//.hidden"} {
		script := `find "$1" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum --`
		want, err := exec.Command("sh", "-c", script, "sh", root).Output()
		if err != nil {
			t.Skipf("no find, sort and xargs with NUL here: %v", err)
		}
		got, errs, status := runStint(t, "", "sum", root)
		if got != string(want) {
			t.Errorf("%s: output %s", root, difference(got, string(want)))
		}
		if errs != "" || status != 0 {
			t.Errorf("%s: exit status %d, messages %q, want none", root, status, errs)
		}
	}
}

func TestCheckLikeCoreutils(t *testing.T) {
	needCoreutils(t)
	paths := oddTree(t)
	for _, alg := range sum.Algorithms() {
		for _, style := range []string{"--text", "--binary", "--tag"} {
			list, _, _ := real(t, "", alg+"sum", append([]string{style, "--"}, paths...)...)
			testfiles.Write(t, "list", list)
			testfiles.Write(t, "upper", strings.ToUpper(list))
			testfiles.Write(t, "crlf", strings.ReplaceAll(list, "\n", "\r\n"))
			compare(t, "", alg, "-c", "list")
			if style != "--text" { // the others read what the first does
				continue
			}
			compare(t, list, alg, "-c", "-")
			compare(t, list, alg, "-c", "--quiet")
			compare(t, "", alg, "-c", "upper")
			compare(t, "", alg, "-c", "crlf")
		}
	}
}

// TestCheckLinesLikeCoreutils covers what a line can look like. H stands for
// the digest of the file a, G for that of another file.
func TestCheckLinesLikeCoreutils(t *testing.T) {
	needCoreutils(t)
	testfiles.Dir(t, "a", "a\n", " a", "a\n", "a b", "a\n", "new\nline", "a\n", "cr\r", "a\n", "all\\\r\n", "a\n")
	must(t, os.Mkdir("directory", 0o777))
	const h = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
	replace := strings.NewReplacer("UU", strings.ToUpper(h), "H", h, "G", strings.Repeat("0", 64), "SHA", "SHA", "|", "\n")
	lines := 0
	for _, text := range []string{
		"", "|", "||", "\r|", "#|", " #|", "x|", "H", "H|", "H |", "H  |", "H   |", "H  a", "H  a|", "H *a|", "UU  a|", "H a|", "H\ta|", "H\t a|",
		" \tH  a|", "H  a |", "H   a|", "H  a b|", "H  a\r|", "H  a\r\r|", "H  cr\r\r|", "|H  a|", "\r|H  a|", "#H  a|H  a|",
		"0H  a|", "H0  a|", "hH  a|", "gH  a|", "G  a|", "G  a|G  a|H  a|",
		"H  missing|", "H  missing|H  missing|H  a|", "H  missing|G  a|x|x|H  a|", "H  directory|",
		"\\H  new\\nline|", "\\H  a|", " \\H  a|", "\\ H  a|", "\\\\H  a|", "\\H  a\\|", "\\H  a\\x|", "\\H  missing\\nline\\\\|", "\\H  all\\\\\\r\\n|",
		"\\G  all\\\\\\r\\n|", "\\H  cr\\r|", "H  new\\nline|",
		"SHA256 (a) = H|", " SHA256 (a) = H|", "SHA256(a)= H|", "SHA256 (a)=H|", "SHA256 (a)  \t=\t  UU|", "SHA256 (a) = H |", "SHA256 (a) = H\r|",
		"SHA256  (a) = H|", "sha256 (a) = H|", "SHA256 a) = H|", "SHA256 (a = H|", "SHA256 (a) H|", "SHA256 () = H|", "SHA256 (a) = |", "SHA256 (a) = 00|",
		"SHA256 (a) = H0|", "SHA256 (a)) = H|", "SHA256 (a) = H) = H|", "\\SHA256 (new\\nline) = H|", "\\SHA256 (a\\x) = H|", "SHA256|", "SHA256 |", "SHA256 (|",
		"SHA256 (a b) = H|x|", "SHA256 (missing) = H|", "BLAKE2b (a) = H|", "H  -|", "G  -|H  -|",
		"H a|H a|", "H  a|H *a|H   a|",
	} {
		lines++
		testfiles.Write(t, "list", replace.Replace(text))
		for i, flags := range []string{"", "-w", "--quiet", "--status", "--strict", "--ignore-missing", "--strict -w --ignore-missing",
			"--status --strict", "--status -w", "-w --status", "--quiet -w", "--status --ignore-missing", "--quiet --status"} {
			if i > 0 && (i+lines)%4 != 0 { // each line with some of the flags, and each flag with some of the lines
				continue
			}
			compare(t, "a\n", "sha256", append(strings.Fields(flags), "-c", "list")...)
		}
	}
}

// TestCheckFilesLikeCoreutils covers the lists themselves.
func TestCheckFilesLikeCoreutils(t *testing.T) {
	needCoreutils(t)
	testfiles.Dir(t, "a", "a\n", "good", "60b725f10c9c85c70d97880dfe8191b3  a\n", "bad", "x\n", "odd name", "60b725f10c9c85c70d97880dfe8191b3  a\nx\n", "missing list", "60b725f10c9c85c70d97880dfe8191b3  missing\n", "reversed", "60b725f10c9c85c70d97880dfe8191b3 a\n")
	for _, args := range [][]string{
		{"good"}, {"bad"}, {"none"}, {"."}, {"good", "bad", "none", ".", "good"}, {"odd name"}, {"-w", "odd name"}, {"good", "good"},
		{"--ignore-missing", "missing list", "good"}, {"--ignore-missing", "good", "missing list"}, {"missing list", "odd name"},
		{"reversed"}, {}, {"-"}, {"-w", "-", "good"}, {"--strict", "odd name"}, {"--status", "none", "odd name"},
	} {
		compare(t, "60b725f10c9c85c70d97880dfe8191b3  a\ny\n", "md5", append([]string{"-c"}, args...)...)
		compare(t, "", "md5", append([]string{"-c"}, args...)...)
	}
}

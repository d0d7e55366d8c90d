package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestCheckKnowsForeignTags is where we differ from coreutils: without -a a tag
// names the algorithm. With -a it must be that one.
func TestCheckKnowsForeignTags(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	var list, want strings.Builder
	for _, alg := range algorithms {
		line, _, _ := runStint(t, "", "sum", "--tag", "-a", alg.name, "a")
		list.WriteString(line)
		want.WriteString("a: OK\n")
	}
	plain, _, _ := runStint(t, "", "sum", "a")
	write(t, "list", list.String()+plain)
	out, errs, status := runStint(t, "", "sum", "-c", "list")
	if out != want.String()+"a: OK\n" || errs != "" || status != 0 {
		t.Errorf("output %q, messages %q, exit status %d; want %d times OK", out, errs, status, len(algorithms)+1)
	}
	for _, alg := range algorithms {
		out, errs, status = runStint(t, "", "sum", "-a", alg.name, "-c", "--strict", "list")
		ok, wrong := 1, "5 lines are"
		if alg.name == "sha256" { // with the plain line
			ok, wrong = 2, "4 lines are"
		}
		if out != strings.Repeat("a: OK\n", ok) || errs != "stint: WARNING: "+wrong+" improperly formatted\n" || status != 1 {
			t.Errorf("-a %s: output %q, messages %q, exit status %d", alg.name, out, errs, status)
		}
	}
}

// TestCheckLongLine wants a file without line ends refused, and not kept.
func TestCheckLongLine(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	sum := "60b725f10c9c85c70d97880dfe8191b3  "
	write(t, "list", sum+strings.Repeat("x", 3*maxLine)+"\n"+sum+"a\n"+sum+strings.Repeat("x", maxLine+1))
	out, errs, status := runStint(t, "", "sum", "-a", "md5", "-c", "-w", "list")
	want := "stint: list: 1: improperly formatted MD5 checksum line\nstint: list: 3: improperly formatted MD5 checksum line\n" +
		"stint: WARNING: 2 lines are improperly formatted\n"
	if out != "a: OK\n" || errs != want || status != 0 {
		t.Errorf("output %q, messages %q, exit status %d", out, errs, status)
	}
}

// TestCheckDamagedLine wants the good lines behind a damaged one read as ever.
func TestCheckDamagedLine(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	sum := "60b725f10c9c85c70d97880dfe8191b3  a\n"
	write(t, "list", sum[1:]+sum) // a digit is lost: a blank stands in its place
	out, errs, status := runStint(t, "", "sum", "-a", "md5", "-c", "list")
	if out != "a: OK\n" || errs != "stint: WARNING: 1 line is improperly formatted\n" || status != 0 {
		t.Errorf("output %q, messages %q, exit status %d", out, errs, status)
	}
}

// FuzzLine writes a result in every style and reads it back.
func FuzzLine(f *testing.F) {
	for _, name := range oddNames {
		f.Add(name, []byte(name), uint8(len(name)), false, false)
	}
	f.Add("a) = b", []byte{}, uint8(0), true, true)
	f.Add(`\`, []byte{1}, uint8(1), true, false)
	f.Fuzz(func(t *testing.T, name string, sum []byte, alg uint8, tag, binary bool) {
		if name == "" || strings.Contains(name, "\x00") {
			return // no file has such a name, and a line cannot say it
		}
		r := &result{item: item{path: name}, alg: algorithms[int(alg)%len(algorithms)]}
		copy(r.sum[:r.alg.size], sum)
		line := string(style{tag: tag, binary: binary}.appendLine(nil, r))
		line, ended := strings.CutSuffix(line, "\n")
		if !ended || strings.ContainsAny(line, "\n\r") {
			t.Fatalf("%q is not one line", line)
		}
		p := &parser{alg: r.alg}
		if tag {
			p.alg = algorithms[0] // the line must say it
		}
		e, ok := p.parse([]byte(line))
		if !ok {
			t.Fatalf("%q is not well formed", line)
		}
		if e.path != name || e.alg != r.alg || string(e.want()) != string(r.digest()) {
			t.Fatalf("%q reads as %q %s %x", line, e.path, e.alg.name, e.want())
		}
	})
}

// FuzzParse reads anything, with no more demands than that it comes to an end
// and that what is accepted is a name that can be opened.
func FuzzParse(f *testing.F) {
	f.Add([]byte("\\SHA1 (a\\n) = 00"))
	f.Add([]byte("60b725f10c9c85c70d97880dfe8191b3 *a"))
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, alg := range algorithms {
			p := &parser{alg: alg}
			if e, ok := p.parse(line); ok && strings.Contains(e.path, "\x00") {
				t.Fatalf("%q gives the name %q", line, e.path)
			}
		}
	})
}

func TestJSONKeepsNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"plain", "<&>", "new\nline", "not utf8 \xff", "\x01"} {
		if err := os.WriteFile(name, []byte("x"), 0o666); err != nil {
			t.Skipf("this file system refuses the name: %v", err)
		}
		out, _, _ := runStint(t, "", "sum", "--json", "-a", "md5", name)
		var rec struct {
			Path      string
			Base64    []byte `json:"path_base64"`
			Algorithm string
			Digest    string
			Size      int64
		}
		if err := json.Unmarshal([]byte(out), &rec); err != nil || strings.Count(out, "\n") != 1 {
			t.Fatalf("%q is not one JSON line: %v", out, err)
		}
		if rec.Base64 != nil {
			rec.Path = string(rec.Base64)
		}
		if rec.Path != name || rec.Algorithm != "md5" || rec.Digest != "9dd4e461268c8034f5c8564e155c67a6" || rec.Size != 1 {
			t.Errorf("%q reads as %+v", out, rec)
		}
	}
}

// TestLongNamesAreNotKept gives a list with a name of 64 MB, and wants little memory for it.
func TestLongNamesAreNotKept(t *testing.T) {
	var before, after runtime.MemStats
	s := &summer{}
	long := io.MultiReader(strings.NewReader("a\n"), &io.LimitedReader{R: letters{}, N: 64 << 20}, strings.NewReader("\nb\n"))
	runtime.ReadMemStats(&before)
	var got []string
	for it := range s.list(long, "list") {
		got = append(got, fmt.Sprint(it.path, " ", it.err))
	}
	runtime.ReadMemStats(&after)
	if want := []string{"a <nil>", "list file name 2 is too long", "b <nil>"}; !slices.Equal(got, want) {
		t.Errorf("names %.200q, want %q", got, want)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes allocated, want less than 4 MB", n)
	}
}

// letters is an endless text without a newline.
type letters struct{}

func (letters) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

package result_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/result/resulttest"
)

// A result that is read and written gives the same lines.
func TestLinesAreReadBack(t *testing.T) {
	r := resulttest.Example()
	r.Quick = true
	r.Conclude([]result.Claim{resulttest.Claim(result.Ratio, 0.5)})
	var lines bytes.Buffer
	if err := result.Lines(&lines, r); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for line := range strings.Lines(lines.String()) {
		var v struct{ Type string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		count[v.Type]++
	}
	if want := map[string]int{"experiment": 1, "run": 12, "verdict": 1, "warning": 1, "end": 1}; !maps.Equal(count, want) {
		t.Errorf("lines %v, want %v", count, want)
	}
	written := lines.String()
	back, err := result.Read(&lines)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := result.Lines(&again, back); err != nil {
		t.Fatal(err)
	}
	if again.String() != written {
		t.Errorf("read back as\n%s\nwritten as\n%s", again.String(), written)
	}
}

func TestReadComplains(t *testing.T) {
	var whole bytes.Buffer
	if err := result.Lines(&whole, resulttest.Example()); err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(whole.String())) // an experiment, 12 runs, an end
	with := func(at int, line string) string {
		return strings.Join(slices.Insert(slices.Clone(lines), at, line), "")
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "no experiment in it"},
		{"no experiment", strings.Join(lines[1:], ""), `line 1: type "run", want "experiment" once and first`},
		{"another type", with(1, `{"type":"other"}`+"\n"), `line 2: unknown type "other"`},
		{"no JSON", with(2, "x\n"), "line 3: invalid character"},
		{"cut off", strings.Join(lines[:5], ""), "it is cut off"},
		{"cut off in a line", whole.String()[:whole.Len()-4], "line 14: unexpected end of JSON input"},
		{"twice", whole.String() + whole.String(), "line 15: it follows the end"},
		{"two experiments", with(1, lines[0]), `line 2: type "experiment", want "experiment" once`},
		{"a run twice", with(1, lines[1]), "line 15: 12 runs were written, 13 are present"},
		{"a run lost", strings.Join(slices.Delete(slices.Clone(lines), 12, 13), ""), "line 13: 12 runs were written, 11 are present"},
		{"another case", strings.Replace(whole.String(), `"run","case":"alg=md5"`, `"run","case":"x"`, 1), "line 2: x gnu: no such case or model"},
	} {
		if _, err := result.Read(strings.NewReader(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

package features

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestRead(t *testing.T) {
	libraries := []Library{{Name: "lib"}}
	rows := []Feature{{Name: "Worker reuse"}, {Name: "Try"}}
	const good = "package p\n\n// Partly. Some\n// words.\nfunc TestLibWorkerReuse(t *testing.T) {\n\tf()\n}\n\nfunc f() {}\n\n// Yes.\nfunc TestLibTry(t *testing.T) {}\n"
	tableOf := func(text string) (Table, error) {
		return read(fstest.MapFS{"lib_test.go": {Data: []byte(text)}}, "dir", libraries, rows)
	}

	table, err := tableOf(good)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table.Cells[0][0], (Cell{Partly, "Some words.", "TestLibWorkerReuse", "dir/lib_test.go", 5, "func TestLibWorkerReuse(t *testing.T) {\n\tf()\n}"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := table.Cells[1][0]; got.Answer != Yes || got.Note != "" || got.Test != "TestLibTry" {
		t.Errorf("got %+v", got)
	}

	for want, text := range map[string]string{
		"has no TestLibTry":              good[:strings.Index(good, "// Yes.")],
		"TestLibMore belongs to no":      good + "\n// Yes.\nfunc TestLibMore(t *testing.T) {}\n",
		"dir/lib_test.go:12: TestLibTry": strings.Replace(good, "// Yes.", "// Certainly.", 1),
		"No needs a note":                strings.Replace(good, "// Yes.", "// No.", 1),
		"has no full stop":               strings.Replace(good, "// Yes.", "// Yes. With", 1),
		"does not begin with":            strings.Replace(good, "// Yes.\n", "", 1),
		"expected":                       good + "}",
	} {
		if _, err := tableOf(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := read(fstest.MapFS{}, "dir", libraries, rows); err == nil || !strings.Contains(err.Error(), "lib_test.go") {
		t.Errorf("got %v, want the name of the file", err)
	}
}

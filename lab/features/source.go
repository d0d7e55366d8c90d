package features

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed *_test.go
var tests embed.FS

// The parts of the tests, as gofmt writes them.
var (
	functions = regexp.MustCompile(`(?ms)^(?://[^\n]*\n)*func (\w+)\((.*?)^}$`)
	fields    = regexp.MustCompile(`(?ms)^\t(\w+): +(?:[^\n]*,(?: //[^\n]*)?$|.*?^\t},$)`)
	rows      = regexp.MustCompile(`"([A-Z][a-z ]+)": (\w+)`)
	cells     = regexp.MustCompile(`(?ms)^\t\t"([^"\n]+)": +\{(Yes|Partly|No), (".*?"), (?:(?:partly\()?(\w+)\)?\},$|.*?^\t\t\}\},$)`)
)

// parts returns the parts of a text by name.
func parts(form *regexp.Regexp, text string) map[string]string {
	out := map[string]string{}
	for _, m := range form.FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[0]
	}
	return out
}

// with appends the parts whose names are in the source, as in the format.
func with(source, format string, parts map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if strings.Contains(source, fmt.Sprintf(format, name)) {
			source += "\n\n" + parts[name]
		}
	}
	return source
}

// fill adds the cells of a library to the table. The source of a cell has the demonstration,
// which is that of the feature unless the cell names another one, and what both use of the
// library's file.
func (t *Table) fill(library, file, demonstrations string) error {
	own, shared, found := parts(functions, file), parts(functions, demonstrations), map[string]Cell{}
	for _, at := range cells.FindAllStringIndex(file, -1) {
		m := cells.FindStringSubmatch(file[at[0]:at[1]])
		note, err := strconv.Unquote(m[3])
		if err != nil || note == "" && m[2] != string(Yes) || note != "" && !strings.HasSuffix(note, ".") {
			return fmt.Errorf("features: %s: %s: the note %s is no sentence", library, m[1], m[3])
		}
		if m[4] == "nil" {
			m[4] = strings.TrimPrefix(parts(rows, demonstrations)[m[1]], strconv.Quote(m[1])+": ")
		}
		source := strings.TrimSpace(m[0]) + "\n\n" + cmp.Or(own[m[4]], shared[m[4]])
		source = with(source, "grade(%s(", shared)
		adapter := parts(fields, file)
		used := with(source, "l.%s", adapter)
		if used == source { // what the library lacks is done by open
			used += "\n\n" + adapter["open"]
		}
		source = with(used, " %s(", own)
		found[m[1]] = Cell{Answer(m[2]), note, "TestCells/" + strings.ReplaceAll(m[1], " ", "_") + "/" + library,
			"lab/features/" + library + "_test.go", 1 + strings.Count(file[:at[0]], "\n"), strings.TrimSpace(source), survey[library+": "+m[1]]}
	}
	for i, f := range t.Features {
		if _, ok := found[f.Name]; !ok {
			return fmt.Errorf("features: %s has no cell for %s", library, f.Name)
		}
		t.Cells[i] = append(t.Cells[i], found[f.Name])
	}
	return nil
}

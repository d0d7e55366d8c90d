package features

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed *_test.go
var tests embed.FS

// read builds the table from the test files in fsys, one per library. dir is
// their directory in the repository.
func read(fsys fs.FS, dir string, libraries []Library, features []Feature) (Table, error) {
	t := Table{Libraries: libraries, Features: features, Cells: make([][]Cell, len(features))}
	for _, l := range libraries {
		name := l.Name + "_test.go"
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return Table{}, fmt.Errorf("features: %w", err)
		}
		cells, err := parse(path.Join(dir, name), text)
		if err != nil {
			return Table{}, fmt.Errorf("features: %w", err)
		}
		for i, f := range features {
			test := "Test" + camel(l.Name) + camel(f.Name)
			cell, ok := cells[test]
			if !ok {
				return Table{}, fmt.Errorf("features: %s has no %s", name, test)
			}
			t.Cells[i] = append(t.Cells[i], cell)
			delete(cells, test)
		}
		if stray := slices.Sorted(maps.Keys(cells)); len(stray) > 0 {
			return Table{}, fmt.Errorf("features: %s: %s belongs to no feature of the table", name, stray[0])
		}
	}
	return t, nil
}

// parse returns the cells of a test file by test name.
func parse(name string, text []byte) (map[string]Cell, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	cells := map[string]Cell{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		from, to := fset.Position(f.Pos()), fset.Position(f.End())
		c := Cell{Test: f.Name.Name, File: name, Line: from.Line, Source: string(text[from.Offset:to.Offset])}
		if c.Answer, c.Note, err = answer(f.Doc.Text()); err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", name, c.Line, c.Test, err)
		}
		cells[c.Test] = c
	}
	return cells, nil
}

// answer splits a test's comment into answer and note.
func answer(comment string) (Answer, string, error) {
	first, note, _ := strings.Cut(strings.Join(strings.Fields(comment), " "), ".")
	note = strings.TrimSpace(note)
	switch a := Answer(first); {
	case a != Yes && a != Partly && a != No:
		return "", "", fmt.Errorf("the comment %q does not begin with Yes, Partly or No and a full stop", comment)
	case a != Yes && note == "":
		return "", "", fmt.Errorf("%s needs a note", a)
	case note != "" && !strings.HasSuffix(note, "."):
		return "", "", fmt.Errorf("the note %q has no full stop", note)
	default:
		return a, note, nil
	}
}

// camel returns the words of s as part of an identifier.
func camel(s string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(s) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

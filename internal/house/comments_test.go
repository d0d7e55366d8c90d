package house

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// public are the packages that callers import.
var public = []string{".", "par", "stream", "errgroup", "debug", "cluster", "cluster/embedded"}

func TestPackageComments(t *testing.T) {
	verify(t, packageComments,
		sample{"one", map[string]string{"a.go": "// Package p does.\npackage p\n", "b.go": "package p\n", "c_test.go": "package p\n"}, ""},
		sample{"command", map[string]string{"a.go": "// Command a does.\npackage main\n"}, ""},
		sample{"none", map[string]string{"par/a.go": "package par\n"}, "par/a.go:1: package par has no comment"},
		sample{"directive", map[string]string{"a.go": "//go:build linux\npackage p\n"}, "a.go:2: package p has no comment"},
		sample{"two", map[string]string{"a.go": "// Package p is.\npackage p\n", "b.go": "// Package p is.\npackage p\n"}, "b.go:2: a second comment"},
		sample{"start", map[string]string{"a.go": "// This is p.\npackage p\n"}, "a.go:2: the comment on package p begins"},
	)
}

// packageComments checks that each package is introduced once.
func packageComments(t *tree) []string {
	var bad []string
	first := map[string]*file{}     // the first file of each package
	commented := map[string]*file{} // the file that holds its comment
	for _, f := range t.golang(func(f *file) bool { return !f.test() }) {
		dir, name := f.dir(), f.syntax.Name.Name
		if first[dir] == nil {
			first[dir] = f
		}
		text := strings.TrimSpace(f.syntax.Doc.Text())
		switch {
		case text == "":
			continue
		case commented[dir] != nil:
			bad = append(bad, f.at(f.syntax.Name, "a second comment on package %s; the first is in %s: keep one", name, commented[dir].path))
		case !strings.HasPrefix(text, "Package "+name+" ") && !(name == "main" && strings.HasPrefix(text, "Command ")):
			bad = append(bad, f.at(f.syntax.Name, "the comment on package %s begins %q; want \"Package %s\", or \"Command\" for a main package", name, headline(text), name))
		}
		commented[dir] = f
	}
	for _, dir := range t.dirs(func(f *file) bool { return !f.test() }) {
		if f := first[dir]; commented[dir] == nil {
			bad = append(bad, f.at(f.syntax.Name, "package %s has no comment; write one in doc.go or in its main file", f.syntax.Name.Name))
		}
	}
	return bad
}

// headline returns the first line of a text.
func headline(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func TestExportedNamesAreDocumented(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"par/a.go": "package par\n\n" + text} }
	verify(t, exportedNames,
		sample{"clean", one("// F does.\nfunc F() {}\n\n// A T is.\ntype T struct {\n\t// X is.\n\tX int\n\tY int // is too\n\tz int\n}\n\n// M does.\nfunc (t *T) M() {}\n"), ""},
		sample{"groups", one("// Errors.\nvar (\n\tErrA = 1\n\tErrB = 2\n)\n\nconst (\n\tA = 1 // is\n\t// B is.\n\tB = 2\n)\n"), ""},
		sample{"hidden", one("func f() {}\n\ntype t struct{ X int }\n\nfunc (t t) M() {}\n"), ""},
		sample{"main", map[string]string{"a.go": "package main\n\nfunc F() {}\n"}, ""},
		sample{"func", one("func F() {}\n"), "par/a.go:3: F has no comment"},
		sample{"start", one("// Does.\nfunc F() {}\n"), "the comment on F begins"},
		sample{"prefix", one("// Foo does.\nfunc F() {}\n"), "the comment on F begins"},
		sample{"method", one("// T is.\ntype T[X any] struct{}\n\nfunc (t *T[X]) M() {}\n"), "par/a.go:6: T.M has no comment"},
		sample{"type", one("type T int\n"), "T has no comment"},
		sample{"const", one("const A = 1\n"), "A has no comment"},
		sample{"in a group", one("const (\n\tA = 1\n\tB = 2 // is\n)\n"), "par/a.go:4: A has no comment"},
		sample{"field", one("// T is.\ntype T struct {\n\tX int\n}\n"), "par/a.go:5: field T.X has no comment"},
		sample{"internal field", map[string]string{"internal/work/a.go": "package work\n\n// T is.\ntype T struct {\n\tX int\n}\n"}, ""},
	)
}

// exportedNames checks that each exported name of a package that can be
// imported has a comment which begins with the name.
func exportedNames(t *tree) []string {
	var bad []string
	for _, f := range t.golang(func(f *file) bool { return !f.test() && f.syntax.Name.Name != "main" }) {
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				bad = append(bad, f.funcComment(d)...)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					bad = append(bad, f.specComment(d, s)...)
				}
			}
		}
	}
	return bad
}

// funcComment checks the comment on a function or on a method of an exported
// type.
func (f *file) funcComment(d *ast.FuncDecl) []string {
	name := d.Name.Name
	if d.Recv == nil {
		return f.begins(d, d.Doc, name, name)
	}
	if base := receiver(d); ast.IsExported(base) {
		return f.begins(d, d.Doc, base+"."+name, name)
	}
	return nil
}

// receiver returns the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	for e := d.Recv.List[0].Type; ; {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// specComment checks the comment on a type, a constant or a variable. Of a
// group, one comment on the group or one on each name is enough.
func (f *file) specComment(d *ast.GenDecl, s ast.Spec) []string {
	grouped := d.Lparen.IsValid()
	switch s := s.(type) {
	case *ast.TypeSpec:
		doc := s.Doc
		if doc == nil && !grouped {
			doc = d.Doc
		}
		name := s.Name.Name
		return append(f.begins(s, doc, name, name, "A "+name, "An "+name, "The "+name), f.fieldComments(s)...)
	case *ast.ValueSpec:
		i := slices.IndexFunc(s.Names, (*ast.Ident).IsExported)
		if i < 0 || grouped && (d.Doc != nil || s.Comment != nil) {
			return nil
		}
		doc := s.Doc
		if doc == nil && !grouped {
			doc = d.Doc
		}
		return f.begins(s, doc, s.Names[i].Name, s.Names[i].Name)
	}
	return nil
}

// begins checks that an exported name has a comment which begins with one of
// starts.
func (f *file) begins(n ast.Node, doc *ast.CommentGroup, name string, starts ...string) []string {
	if last := name[strings.LastIndex(name, ".")+1:]; !ast.IsExported(last) {
		return nil
	}
	text := strings.TrimSpace(doc.Text())
	if text == "" {
		return []string{f.at(n, "%s has no comment; say what it does, when it blocks, and what happens on error and panic", name)}
	}
	for _, s := range starts {
		if rest, ok := strings.CutPrefix(text, s); ok && !continues(rest) {
			return nil
		}
	}
	return []string{f.at(n, "the comment on %s begins %q; begin it with the name", name, headline(text))}
}

// continues reports whether rest goes on with the word before it.
func continues(rest string) bool {
	return rest != "" && (token.IsIdentifier(rest[:1]) || rest[0] >= '0' && rest[0] <= '9')
}

// fieldComments checks that each exported field of an exported struct of a
// public package has a comment, above it or on its line.
func (f *file) fieldComments(s *ast.TypeSpec) []string {
	st, ok := s.Type.(*ast.StructType)
	if !ok || !s.Name.IsExported() || !slices.Contains(public, f.dir()) {
		return nil
	}
	var bad []string
	for _, field := range st.Fields.List {
		i := slices.IndexFunc(field.Names, (*ast.Ident).IsExported)
		if i >= 0 && field.Doc == nil && field.Comment == nil {
			bad = append(bad, f.at(field, "field %s.%s has no comment; write one above it or on its line", s.Name.Name, field.Names[i].Name))
		}
	}
	return bad
}

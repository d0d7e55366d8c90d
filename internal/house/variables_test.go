package house

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// quiet are the calls that a package variable's value may make: they only
// build a value.
var quiet = map[string][]string{
	"errors": {"New"},
	"fmt":    {"Errorf"},
}

// builtin are the calls without a package that only build a value: make is
// looked at separately. The types are conversions.
var builtin = []string{
	"append", "cap", "complex", "imag", "len", "make", "max", "min", "new", "real",
	"bool", "byte", "float32", "float64", "int", "int8", "int16", "int32", "int64",
	"rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "any", "error",
}

func TestImportStartsNothing(t *testing.T) {
	one := func(text string) map[string]string {
		return map[string]string{"par/a.go": "package par\n\nimport (\"context\"; \"errors\"; \"sync\"; \"time\")\n\ntype T int\n\n" + text + "\n"}
	}
	verify(t, importWork,
		sample{"clean", one("var a, b = errors.New(\"x\"), map[string]T{\"x\": T(1)}"), ""},
		sample{"conversions", one("var _ I = (*T)(nil)\n\nvar b = []byte(\"x\")\n\nvar c = 3 * time.Duration(time.Second)"), ""},
		sample{"functions", one("var f = func() { time.Sleep(1) }\n\nvar g func(context.Context)"), ""},
		sample{"local", one("func f() { var mu sync.Mutex; c := make(chan int) }"), ""},
		sample{"tests", map[string]string{"a_test.go": "package p\n\nvar a = f()\n\nfunc init() {}\n"}, ""},
		sample{"command", map[string]string{"cmd/a/go.mod": "", "cmd/a/a.go": "package p\n\nfunc init() {}\n"}, ""},
		sample{"init", one("func init() {}"), "par/a.go:7: func init"},
		sample{"other module", map[string]string{"cluster/go.mod": "", "cluster/a.go": "package p\n\nfunc init() {}\n"}, "cluster/a.go:3: func init"},
		sample{"method", one("func (T) init() {}"), ""},
		sample{"channel", one("var c = make(chan T)"), "variable c makes a channel"},
		sample{"channel type", one("var c chan T"), "variable c is a channel"},
		sample{"new", one("var p = NewPool()"), "variable p calls NewPool"},
		sample{"time", one("var t0 = time.Now()"), "variable t0 calls time.Now"},
		sample{"context", one("var ctx = context.Background()"), "variable ctx calls context.Background"},
		sample{"function", one("var x = func() int { return 1 }()"), "variable x calls a function"},
		sample{"mutex", one("var mu sync.Mutex"), "variable mu holds sync.Mutex"},
		sample{"pool", one("var p = &sync.Pool{New: func() any { return new(T) }}"), "variable p holds sync.Pool"},
		sample{"timer", one("var t0 *time.Timer"), "variable t0 holds time.Timer"},
	)
}

// importWork checks that importing a package of ours starts nothing, and makes
// nothing that is shared by all its users.
func importWork(t *tree) []string {
	var bad []string
	for _, f := range t.golang(t.isReleased) {
		types := declaredTypes(t, f.dir())
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					bad = append(bad, f.at(d, "func init; importing a package does nothing: move it to where it is needed"))
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						bad = append(bad, f.variable(s, types)...)
					}
				}
			}
		}
	}
	return bad
}

// variable checks one declaration of package variables: its type and values,
// but not the bodies of functions, which do not run at import.
func (f *file) variable(s *ast.ValueSpec, types []string) []string {
	what := ""
	look := func(n ast.Node) bool {
		if what == "" && n != nil {
			what = f.work(n, types)
		}
		switch n.(type) {
		case *ast.FuncType, *ast.FuncLit:
			return false
		}
		return what == ""
	}
	if s.Type != nil {
		ast.Inspect(s.Type, look)
	}
	for _, v := range s.Values {
		ast.Inspect(v, look)
	}
	if what == "" {
		return nil
	}
	return []string{f.at(s, "package variable %s %s; give it an owner that makes it and ends it", s.Names[0].Name, what)}
}

// work says what is wrong with a node in a package variable, or "".
func (f *file) work(n ast.Node, types []string) string {
	switch n := n.(type) {
	case *ast.ChanType:
		return "is a channel"
	case *ast.SelectorExpr:
		if f.refers(n, "sync") || f.refers(n, "time", "Timer", "Ticker") || f.refers(n, "context", "Context", "CancelFunc", "CancelCauseFunc") {
			return "holds " + last(n.X) + "." + n.Sel.Name
		}
	case *ast.CallExpr:
		return f.call(n, types)
	}
	return ""
}

// call says what is wrong with a call in the value of a package variable.
// Calls that may only build a value, and conversions, pass.
func (f *file) call(c *ast.CallExpr, types []string) string {
	fun := ast.Unparen(c.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		if fun.Name == "make" && len(c.Args) > 0 {
			if _, ok := c.Args[0].(*ast.ChanType); ok {
				return "makes a channel"
			}
		}
		if !slices.Contains(builtin, fun.Name) && !slices.Contains(types, fun.Name) {
			return "calls " + fun.Name
		}
	case *ast.SelectorExpr:
		for where, names := range quiet {
			if f.refers(fun, where, names...) {
				return ""
			}
		}
		if !f.refers(fun, "time", "Duration") {
			return "calls " + last(fun.X) + "." + fun.Sel.Name
		}
	case *ast.FuncLit:
		return "calls a function"
	}
	return ""
}

// declaredTypes returns the names of a package's types: with one of them, what
// looks like a call is a conversion.
func declaredTypes(t *tree, dir string) []string {
	var names []string
	for _, f := range t.golang(func(f *file) bool { return f.dir() == dir }) {
		for _, d := range f.syntax.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.TYPE {
				for _, s := range d.Specs {
					names = append(names, s.(*ast.TypeSpec).Name.Name)
				}
			}
		}
	}
	return names
}

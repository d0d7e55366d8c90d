// Package tasks knows the calls of stint in a package, the tasks that they start, and what these
// tasks call.
package tasks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

const module = "github.com/stint-go/stint"

// Analyzer makes a Package. It has no facts: drivers then need not look at the packages that a
// package imports.
var Analyzer = &analysis.Analyzer{
	Name:       "stinttasks",
	Doc:        "finds the calls of stint and their tasks",
	Run:        run,
	ResultType: reflect.TypeFor[*Package](),
	Requires:   []*analysis.Analyzer{inspect.Analyzer},
}

// New returns an analyzer of the packages that use stint. Its documentation is the package comment
// in source, "Package name reports ...".
func New(name, source string, run func(*analysis.Pass, *Package)) *analysis.Analyzer {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		panic(err)
	}
	return &analysis.Analyzer{
		Name:     name,
		Doc:      strings.TrimPrefix(file.Doc.Text(), "Package "+name+" "),
		URL:      "https://pkg.go.dev/" + module + "/vet/" + name,
		Requires: []*analysis.Analyzer{Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			if p := pass.ResultOf[Analyzer].(*Package); p != nil {
				run(pass, p)
			}
			return nil, nil
		},
	}
}

// A Package is a package that uses stint.
type Package struct {
	Root  inspector.Cursor // of the syntax
	Info  *types.Info
	Tasks []Task // of all calls of stint
	self  *types.Package

	decls map[*types.Func]*ast.FuncDecl
	sets  map[*types.Var][]set
}

// A set is one assignment to a variable.
type set struct {
	pos   token.Pos
	value ast.Expr // of several variables, the call whose first result it is; nil if it is unknown
}

// run returns a nil Package if the package does not use stint.
func run(pass *analysis.Pass) (any, error) {
	if !ours(pass.Pkg) && !slices.ContainsFunc(pass.Pkg.Imports(), ours) {
		return (*Package)(nil), nil
	}
	p := &Package{
		Root: pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root(), Info: pass.TypesInfo, self: pass.Pkg,
		decls: map[*types.Func]*ast.FuncDecl{}, sets: map[*types.Var][]set{},
	}
	for c := range p.Root.Preorder((*ast.FuncDecl)(nil), (*ast.Field)(nil), (*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.RangeStmt)(nil)) {
		switch n := c.Node().(type) {
		case *ast.FuncDecl:
			if f, ok := p.Info.Defs[n.Name].(*types.Func); ok {
				p.decls[f] = n
			}
		case *ast.Field: // a parameter has a value from the beginning
			for _, name := range n.Names {
				p.set(name, nil)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				p.set(left, value(n.Rhs, i, len(n.Lhs)))
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) > 0 {
					p.set(name, value(n.Values, i, len(n.Names)))
				}
			}
		case *ast.RangeStmt:
			p.set(n.Key, nil)
			p.set(n.Value, nil)
		}
	}
	for c := range p.Root.Preorder((*ast.CallExpr)(nil)) {
		p.Tasks = append(p.Tasks, p.tasks(c.Node().(*ast.CallExpr))...)
	}
	return p, nil
}

// public are the packages of stint that have tasks with a context.
var public = []string{module, module + "/advise", module + "/cluster", module + "/cluster/embedded", module + "/stream"}

// ours reports whether a package is one of stint's.
func ours(pkg *types.Package) bool { return pkg != nil && slices.Contains(public, pkg.Path()) }

// value returns what the i-th of n variables gets.
func value(values []ast.Expr, i, n int) ast.Expr {
	switch {
	case len(values) == n:
		return values[i]
	case i == 0:
		return values[0]
	}
	return nil
}

func (p *Package) set(left, value ast.Expr) {
	if id, ok := left.(*ast.Ident); ok {
		if v, ok := p.Info.ObjectOf(id).(*types.Var); ok {
			p.sets[v] = append(p.sets[v], set{id.Pos(), value})
		}
	}
}

// Value returns the only value that a variable ever has, or nil. Unless it is a function, it is the one
// that the variable was declared with: so values cannot be made of each other in a circle.
func (p *Package) Value(v types.Object) ast.Expr {
	if v, ok := v.(*types.Var); ok && len(p.sets[v]) == 1 {
		s := p.sets[v][0]
		if _, isFunc := s.value.(*ast.FuncLit); isFunc || s.pos == v.Pos() {
			return s.value
		}
	}
	return nil
}

// SetIn reports whether a variable is assigned to in a node.
func (p *Package) SetIn(v types.Object, n ast.Node) bool {
	if v, ok := v.(*types.Var); ok {
		for _, s := range p.sets[v] {
			if Within(s.pos, n) {
				return true
			}
		}
	}
	return false
}

// Within reports whether a position is in a node.
func Within(pos token.Pos, n ast.Node) bool { return n.Pos() <= pos && pos < n.End() }

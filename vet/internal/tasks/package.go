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
	"golang.org/x/tools/go/types/typeutil"
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
			run(pass, pass.ResultOf[Analyzer].(*Package))
			return nil, nil
		},
	}
}

// A Package is a package, and where the values of its variables come from.
type Package struct {
	Root  inspector.Cursor // of the syntax
	Info  *types.Info
	Tasks []Task // of all calls of stint
	self  *types.Package

	decls    map[types.Object]*ast.FuncDecl
	sets     map[types.Object][]set
	variadic map[types.Object]bool
}

// A set is one value of a variable, a field or a parameter, or the first result of a function.
type set struct {
	pos   token.Pos // of the variable in an assignment, or NoPos
	value ast.Expr  // of several variables, the call whose results they are; nil if it is unknown
}

func run(pass *analysis.Pass) (any, error) {
	p := &Package{
		Root: pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root(), Info: pass.TypesInfo, self: pass.Pkg,
		decls: map[types.Object]*ast.FuncDecl{}, sets: map[types.Object][]set{}, variadic: map[types.Object]bool{},
	}
	var calls []*ast.CallExpr
	for c := range p.Root.Preorder() {
		switch n := c.Node().(type) {
		case *ast.FuncDecl:
			p.decls[p.Info.Defs[n.Name]] = n
			for _, field := range n.Type.Params.List {
				for _, name := range field.Names {
					if n.Name.IsExported() && p.self.Name() != "main" {
						p.set(name, token.NoPos, nil) // other packages call it
					}
				}
			}
		case *ast.Field:
			for _, name := range n.Names {
				_, p.variadic[p.Object(name)] = n.Type.(*ast.Ellipsis)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				value := n.Rhs[min(i, len(n.Rhs)-1)]
				if kind(p.Object(left)) == types.ParamVar || n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
					value = nil // a default, or a part of the value
				}
				p.set(left, left.Pos(), value)
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) > 0 {
					p.set(name, name.Pos(), n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.RangeStmt:
			p.set(n.Key, token.NoPos, nil)
			p.set(n.Value, token.NoPos, nil)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				p.set(n.X, token.NoPos, nil)
			}
		case *ast.KeyValueExpr:
			if kind(p.Object(n.Key)) == types.FieldVar {
				p.set(n.Key, token.NoPos, n.Value)
			}
		case *ast.CallExpr:
			calls = append(calls, n)
		case *ast.ReturnStmt:
			for f := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
				if d, ok := f.Node().(*ast.FuncDecl); ok && len(n.Results) > 0 {
					p.set(d.Name, token.NoPos, n.Results[0])
				}
				break
			}
		}
	}
	for _, call := range calls {
		for _, f := range p.Funcs(call.Fun, nil) {
			for name, arg := range f.arguments(call) {
				p.set(name, token.NoPos, arg)
			}
		}
	}
	if ours(p.self) || slices.ContainsFunc(p.self.Imports(), ours) {
		for _, call := range calls {
			p.Tasks = append(p.Tasks, p.tasks(call)...)
		}
	}
	return p, nil
}

// public are the packages of stint that have tasks with a context.
var public = []string{module, module + "/advise", module + "/cluster", module + "/cluster/embedded", module + "/stream"}

// ours reports whether a package is one of stint's.
func ours(pkg *types.Package) bool { return pkg != nil && slices.Contains(public, pkg.Path()) }

func (p *Package) set(to ast.Expr, pos token.Pos, value ast.Expr) {
	if o := p.Object(to); o != nil {
		p.sets[o] = append(p.sets[o], set{pos, value})
	}
}

// Object returns the variable, field or function that e denotes, or nil.
func (p *Package) Object(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		switch o := p.Info.ObjectOf(e).(type) {
		case *types.Var:
			return o.Origin()
		case *types.Func:
			return o.Origin()
		}
	case *ast.SelectorExpr:
		return p.Object(e.Sel)
	case *ast.StarExpr:
		return p.Object(e.X)
	}
	return nil
}

func kind(o types.Object) types.VarKind {
	if v, ok := o.(*types.Var); ok {
		return v.Kind()
	}
	return 0
}

// Variadic reports whether a variable is a variadic parameter.
func (p *Package) Variadic(v types.Object) bool { return p.variadic[v] }

// Values returns what a variable, a field, a parameter or the first result of a function is set to in the
// package: nil for what is unknown.
func (p *Package) Values(o types.Object) []ast.Expr {
	var values []ast.Expr
	for _, s := range p.sets[o] {
		values = append(values, s.value)
	}
	return values
}

// Value returns the only value that a variable ever has, or nil. Unless it is a function, it is the one
// that the variable was declared with: so values cannot be made of each other in a circle.
func (p *Package) Value(v types.Object) ast.Expr {
	if k := kind(v); (k == types.LocalVar || k == types.PackageVar) && len(p.sets[v]) == 1 {
		s := p.sets[v][0]
		if _, isFunc := s.value.(*ast.FuncLit); isFunc || s.pos == v.Pos() {
			return s.value
		}
	}
	return nil
}

// SetIn reports whether a variable is assigned to in a node.
func (p *Package) SetIn(v types.Object, n ast.Node) bool {
	return slices.ContainsFunc(p.sets[v], func(s set) bool { return Within(s.pos, n) })
}

// Callee returns the name of a called function with its package and its receiver's type:
// "time.Sleep", "net/http.Client.Do"; or as it is written, of a builtin or a variable.
func (p *Package) Callee(n *ast.CallExpr) string {
	f, ok := typeutil.Callee(p.Info, n).(*types.Func)
	if !ok {
		return types.ExprString(n.Fun)
	}
	return strings.NewReplacer("(", "", "*", "", ")", "").Replace(f.FullName())
}

// Calls reports whether the name of a called function begins with one of prefixes.
func (p *Package) Calls(n *ast.CallExpr, prefixes ...string) bool {
	name := p.Callee(n)
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Within reports whether a position is in a node.
func Within(pos token.Pos, n ast.Node) bool { return n.Pos() <= pos && pos < n.End() }

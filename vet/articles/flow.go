package articles

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// checker is the analysis of one package.
type checker struct {
	*analysis.Pass
	root   inspector.Cursor
	bodies map[types.Object]*ast.FuncDecl
	listed map[types.Object]bool       // variadic parameters
	flows  map[types.Object][]ast.Expr // what a variable, field or parameter is set to, and a function returns first; nil for what is unknown
}

// index fills the maps of c.
func (c *checker) index() {
	c.bodies, c.listed, c.flows = map[types.Object]*ast.FuncDecl{}, map[types.Object]bool{}, map[types.Object][]ast.Expr{}
	flow := func(to types.Object, from ast.Expr) { c.flows[to] = append(c.flows[to], from) }
	var calls []*ast.CallExpr
	for cur := range c.root.Preorder() {
		switch n := cur.Node().(type) {
		case *ast.FuncDecl:
			c.bodies[c.TypesInfo.Defs[n.Name]] = n
			for p := range c.parameters(n) {
				if n.Name.IsExported() && c.Pkg.Name() != "main" {
					flow(p, nil) // other packages call it
				}
			}
		case *ast.Field:
			for _, id := range n.Names {
				_, c.listed[c.object(id)] = n.Type.(*ast.Ellipsis)
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				from := n.Rhs[min(i, len(n.Rhs)-1)]
				v, ok := c.object(to).(*types.Var)
				if ok && v.Kind() == types.ParamVar || n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
					from = nil // a default, or a part of the value
				}
				flow(c.object(to), from)
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if len(n.Values) > 0 {
					flow(c.object(id), n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				flow(c.object(n.X), nil)
			}
		case *ast.KeyValueExpr:
			flow(c.object(n.Key), n.Value)
		case *ast.CallExpr:
			calls = append(calls, n)
		case *ast.ReturnStmt:
			for f := range cur.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
				if d, ok := f.Node().(*ast.FuncDecl); ok && len(n.Results) > 0 {
					flow(c.TypesInfo.Defs[d.Name], n.Results[0])
				}
				break
			}
		}
	}
	for _, call := range calls {
		i := 0
		for p := range c.parameters(c.function(call.Fun)) {
			if !c.listed[p] && i < len(call.Args) {
				flow(p, call.Args[i])
			}
			i++
		}
	}
	delete(c.flows, nil)
}

// parameters returns the parameters of a literal or a declaration.
func (c *checker) parameters(fn ast.Node) iter.Seq[*types.Var] {
	var t types.Type
	switch fn := fn.(type) {
	case *ast.FuncLit:
		t = c.TypesInfo.TypeOf(fn)
	case *ast.FuncDecl:
		t = c.TypesInfo.TypeOf(fn.Name)
	default:
		return func(func(*types.Var) bool) {}
	}
	return t.(*types.Signature).Params().Variables()
}

// object returns the variable, field or function that e denotes, or nil.
func (c *checker) object(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		switch o := c.TypesInfo.ObjectOf(e).(type) {
		case *types.Var:
			return o.Origin()
		case *types.Func:
			return o.Origin()
		}
	case *ast.SelectorExpr:
		return c.object(e.Sel)
	case *ast.StarExpr:
		return c.object(e.X)
	}
	return nil
}

// function returns the function of this package that e denotes: a literal, the only literal
// that a variable is set to, a declaration, or nil.
func (c *checker) function(e ast.Expr) ast.Node {
	if lit, ok := ast.Unparen(e).(*ast.FuncLit); ok {
		return lit
	}
	o := c.object(e)
	if d := c.bodies[o]; d != nil {
		return d
	}
	if from := c.flows[o]; o != nil && len(from) == 1 && from[0] != nil {
		if lit, ok := from[0].(*ast.FuncLit); ok {
			return lit
		}
	}
	return nil
}

// callee returns the name of a called function with its package and its receiver's type:
// "time.Sleep", "net/http.Client.Do"; or as it is written, of a builtin or a variable.
func (c *checker) callee(call *ast.CallExpr) string {
	f, ok := typeutil.Callee(c.TypesInfo, call).(*types.Func)
	if !ok {
		return types.ExprString(call.Fun)
	}
	return strings.NewReplacer("(", "", "*", "", ")", "").Replace(f.FullName())
}

// source reports whether f holds for an expression that e may come from, through
// variables, arguments and results of this package, and through readers of readers.
func (c *checker) source(e ast.Expr, f func(ast.Expr) bool) bool {
	seen := map[types.Object]bool{nil: true}
	var from func(e ast.Expr) bool
	from = func(e ast.Expr) bool {
		if e == nil || f(ast.Unparen(e)) {
			return e != nil
		}
		o := c.object(e)
		if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
			if wrapper.MatchString(c.callee(call)) && len(call.Args) > 0 {
				return from(call.Args[0])
			}
			o = c.object(call.Fun)
		}
		if seen[o] {
			return false
		}
		seen[o] = true
		return slices.ContainsFunc(c.flows[o], from)
	}
	return from(e)
}

// walk calls visit for the nodes of a function or a statement that run on its goroutine, and
// for those of the functions of this package that it calls, until visit returns false. sure
// says whether each run reaches the node.
func (c *checker) walk(root ast.Node, visit func(n ast.Node, sure bool) bool) {
	seen, stopped := map[ast.Node]bool{nil: true}, false
	var in func(root ast.Node, sure bool)
	in = func(root ast.Node, sure bool) {
		if seen[root] {
			return
		}
		seen[root] = true
		ast.Inspect(root, func(n ast.Node) bool {
			_, literal := n.(*ast.FuncLit)
			if n == nil || literal && n != root {
				return false
			}
			if stopped = stopped || !visit(n, sure); stopped {
				return false
			}
			switch n := n.(type) {
			case *ast.GoStmt:
				return false
			case *ast.IfStmt, *ast.CaseClause, *ast.CommClause, *ast.ForStmt:
				if n != root && sure && !unpacks(n) {
					in(n, false)
					return false
				}
			case *ast.CallExpr:
				in(c.function(n.Fun), sure)
			}
			return true
		})
	}
	in(root, true)
}

// unpacks reports whether a statement only asserts the type of a value.
func unpacks(n ast.Node) bool {
	if s, ok := n.(*ast.IfStmt); ok && s.Init != nil {
		if a, ok := s.Init.(*ast.AssignStmt); ok {
			_, ok = a.Rhs[0].(*ast.TypeAssertExpr)
			return ok
		}
	}
	return false
}

// started returns what a statement starts on another goroutine: by go, or by Go of a
// WaitGroup or an errgroup.Group.
func (c *checker) started(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.GoStmt:
		return n.Call.Fun
	case *ast.CallExpr:
		if name := c.callee(n); name == "sync.WaitGroup.Go" || name == "golang.org/x/sync/errgroup.Group.Go" {
			return n.Args[0]
		}
	}
	return nil
}

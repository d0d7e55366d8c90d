package articles

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/stint-go/stint/vet/internal/tasks"
)

// checker is the analysis of one package.
type checker struct {
	*analysis.Pass
	*tasks.Package
}

// function returns the body of a function of this package that e denotes, or nil.
func (c *checker) function(e ast.Expr) *ast.BlockStmt {
	for _, f := range c.Funcs(e, nil) {
		return f.Body
	}
	return nil
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
		o := c.Object(e)
		if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
			if wrapper.MatchString(c.Callee(call)) && len(call.Args) > 0 {
				return from(call.Args[0])
			}
			o = c.Object(call.Fun)
		}
		if seen[o] {
			return false
		}
		seen[o] = true
		return slices.ContainsFunc(c.Values(o), from)
	}
	return from(e)
}

// walk calls visit for the nodes of a function or a statement that run on its goroutine, and
// for those of the functions of this package that it calls, until visit returns false. sure
// says whether each run reaches the node.
func (c *checker) walk(root ast.Node, visit func(n ast.Node, sure bool) bool) {
	seen, stopped := map[ast.Node]bool{}, false
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
				if fn := c.function(n.Fun); fn != nil {
					in(fn, sure)
				}
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
		if name := c.Callee(n); name == "sync.WaitGroup.Go" || name == "golang.org/x/sync/errgroup.Group.Go" {
			return n.Args[0]
		}
	}
	return nil
}

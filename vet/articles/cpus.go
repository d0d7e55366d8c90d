package articles

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
)

// submits matches methods that take work.
var submits = regexp.MustCompile(`^(Try)?(Go|Submit|Invoke|Do|Run)(Context)?$`)

// cpus reports as many workers as CPUs for work that waits: a loop that starts them, a call
// that gets both numbers and work, a pool that has been made of the number.
func (c *checker) cpus() {
	limited := map[types.Object]bool{}
	for cur := range c.Root.Preorder((*ast.AssignStmt)(nil), (*ast.ExprStmt)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.AssignStmt:
			if c.limits(n.Rhs[0]) {
				limited[c.Object(n.Lhs[0])] = true
			}
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && c.limits(call) {
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok { // g.SetLimit(runtime.NumCPU())
					limited[c.Object(sel.X)] = true
				}
			}
		}
	}
	delete(limited, nil)
	for cur := range c.Root.Preorder((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.CallExpr)(nil)) {
		what := ""
		switch n := cur.Node().(type) {
		case *ast.ForStmt:
			if cond, ok := n.Cond.(*ast.BinaryExpr); ok && (cond.Op == token.LSS || cond.Op == token.LEQ) && c.perCPU(cond.Y, nil) {
				what = c.startsWaiting(n.Body)
			}
		case *ast.RangeStmt:
			if c.perCPU(n.X, nil) {
				what = c.startsWaiting(n.Body)
			}
		case *ast.CallExpr:
			sel, method := n.Fun.(*ast.SelectorExpr)
			method = method && limited[c.Object(sel.X)] && submits.MatchString(sel.Sel.Name)
			for _, a := range n.Args {
				if fn := c.function(a); fn != nil && (method || c.limits(n)) {
					what = c.waits(fn)
				}
			}
		}
		if what != "" {
			c.Reportf(cur.Node().Pos(), "as many workers as CPUs for work that waits (%s) leave the CPUs idle: use stint.Each, which without a Limit finds one that is fast, or with a Limit that fits what is waited for (%s)", what, kennedy)
		}
	}
}

// limits reports whether a call is given the number of CPUs, also within an argument or by
// the call before it: stint.NewPool(stint.Limit(n)), pool.New().WithMaxGoroutines(n).
func (c *checker) limits(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || c.perCPU(e, nil) {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && c.limits(sel.X) || slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return c.perCPU(a, nil) || c.limits(a) })
}

// perCPU reports whether e is the number of CPUs, a part of it or a few more, on whatever way
// it comes to e; seen are the variables on that way.
func (c *checker) perCPU(e ast.Expr, seen []types.Object) bool {
	few := func(e ast.Expr) bool {
		v := c.Info.Types[e].Value
		return v != nil && v.Kind() == constant.Int && constant.Compare(v, token.LEQ, constant.MakeInt64(8))
	}
	is := func(e ast.Expr) bool { return c.perCPU(e, seen) }
	all := func(list []ast.Expr) bool {
		return slices.ContainsFunc(list, is) && !slices.ContainsFunc(list, func(e ast.Expr) bool { return e == nil || !few(e) && !is(e) })
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return (e.Op == token.ADD || e.Op == token.SUB || e.Op == token.QUO) && all([]ast.Expr{e.X, e.Y})
	case *ast.CallExpr:
		name := c.Callee(e)
		return name == "runtime.NumCPU" || name == "runtime.GOMAXPROCS" || name == "max" && all(e.Args) ||
			name == "min" && slices.ContainsFunc(e.Args, is) || c.Info.Types[e.Fun].IsType() && is(e.Args[0])
	case *ast.Ident, *ast.SelectorExpr:
		o := c.Object(e)
		if o == nil || slices.Contains(seen, o) || o.Exported() && c.Pass.Pkg.Name() != "main" {
			return false // others may set it
		}
		seen = append(slices.Clip(seen), o)
		return all(c.Values(o))
	}
	return false
}

// startsWaiting returns what the work waits for that a loop's body starts on goroutines.
func (c *checker) startsWaiting(body ast.Node) (what string) {
	c.walk(body, func(n ast.Node, _ bool) bool {
		if fn := c.started(n); fn != nil {
			what = c.waits(c.function(fn))
		}
		return what == ""
	})
	return what
}

// waits returns what a function waits for: itself, or by functions of this package. A Sleep
// counts only if each call gets to it; others pace retries.
func (c *checker) waits(fn *ast.BlockStmt) (what string) {
	if fn == nil {
		return ""
	}
	c.walk(fn, func(n ast.Node, sure bool) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if name := c.Callee(call); waiting.MatchString(name) && (sure || name != "time.Sleep") {
				what = path.Base(name)
			}
		}
		return what == ""
	})
	return what
}

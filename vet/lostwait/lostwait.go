package lostwait

import (
	_ "embed"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/cfg"

	"github.com/stint-go/stint/vet/internal/tasks"
)

//go:embed doc.go
var doc string

// Analyzer reports groups and pools whose tasks nobody waits for, and calls that may refuse a
// task and whose result is not used.
var Analyzer = tasks.New("lostwait", doc, run)

func run(pass *analysis.Pass, p *tasks.Package) {
	for c := range p.Root.Preorder((*ast.CallExpr)(nil)) {
		call := p.Call(c.Node().(*ast.CallExpr))
		switch {
		case call == nil:
		case call.Recv == nil && slices.Contains([]string{"NewGroup", "NewResults", "NewPool"}, call.Name):
			checkWait(pass, p, c, call)
		case c.ParentEdgeKind() == edge.ExprStmt_X:
			checkResult(pass, p, call)
		}
	}
}

// checkResult checks a call whose result is not used.
func checkResult(pass *analysis.Pass, p *tasks.Package, call *tasks.Call) {
	if call.Type == "" {
		return
	}
	recv := types.ExprString(call.Recv)
	switch {
	case call.Name == "TryGo":
		pass.Reportf(call.Pos(), "%s.TryGo may refuse the task, and nobody learns of it: use its result, or assign it to _ if the task may be dropped", recv)
	case call.Name == "GoContext" && endsFirst(p, call):
		pass.Reportf(call.Pos(), "%s.GoContext drops the task if %s has ended, and nobody learns of it: use its error, or assign it to _", recv, types.ExprString(call.Args[0]))
	}
}

// endsFirst reports whether the context given to GoContext can end before that of the group or pool.
func endsFirst(p *tasks.Package, call *tasks.Call) bool {
	var root types.Object
	switch ctx := ast.Unparen(call.Args[0]).(type) {
	case *ast.Ident:
		root = p.Info.Uses[ctx]
		made, ok := p.Value(root).(*ast.CallExpr)
		if !ok || !p.Calls(made, "context.WithCancel", "context.WithDeadline", "context.WithTimeout", "os/signal.NotifyContext") {
			return false
		}
	case *ast.CallExpr: // of a request
		sel, ok := ast.Unparen(ctx.Fun).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Context" || len(ctx.Args) > 0 {
			return false
		}
		if path, ok := p.Path(sel.X, nil); ok {
			root = path.Root
		}
	}
	group, ok := p.Path(call.Recv, nil)
	return root != nil && (call.Type == "Pool" || ok && group.Fields == "" && group.Root.Pos() < root.Pos())
}

// A variable holds a group or a pool.
type variable struct {
	*tasks.Package
	types.Object
	made ast.Node // the statement
	loop ast.Node // around it, or nil
	pool bool
}

// checkWait checks that what is made by a call is waited for on all paths.
func checkWait(pass *analysis.Pass, p *tasks.Package, c inspector.Cursor, call *tasks.Call) {
	v := &variable{Package: p, made: c.Parent().Node(), pool: call.Name == "NewPool"}
	var name ast.Expr
	switch made := v.made.(type) {
	case *ast.AssignStmt:
		name = made.Lhs[0]
	case *ast.ValueSpec:
		name = made.Names[0]
	}
	id, ok := name.(*ast.Ident)
	if !ok {
		return
	}
	v.Object = p.Info.ObjectOf(id)
	body := tasks.Around(c)
	if v.Object == nil || body == nil || !tasks.Within(v.Pos(), body) {
		return
	}
	for loop := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		if tasks.Within(loop.Node().Pos(), body) {
			v.loop = loop.Node()
		}
		break
	}
	g := cfg.New(body, func(n *ast.CallExpr) bool { return mayReturn(p, n) })
	for _, b := range g.Blocks {
		if i := slices.Index(b.Nodes, v.made); i >= 0 && b.Live {
			if end := v.lost(state{b, !v.pool}, i+1, v.made.Pos(), map[state]bool{}); end != token.NoPos {
				message := "no %s.Wait on the path to line %d: the context of %[1]s does not end, and its tasks, if any, run on; wait there, or defer %[1]s.Wait() here"
				if v.pool {
					message = "no %s.Close on the path to line %d: its tasks may run on; close it there, or defer %[1]s.Close() here"
				}
				pass.Reportf(v.made.Pos(), message, id.Name, pass.Fset.Position(end).Line)
			}
		}
	}
}

// A state is a block, and whether v must be waited for when it begins: a group always, since its
// context must end; a pool when it has a task.
type state struct {
	*cfg.Block
	must bool
}

// lost returns where a path ends that begins with a node of a block and does not wait for v: at a
// return, or before v is made once more. The path has come to at.
func (v *variable) lost(s state, from int, at token.Pos, seen map[state]bool) token.Pos {
	for _, n := range s.Nodes[from:] {
		_, returns := n.(*ast.ReturnStmt)
		switch {
		case n != v.made && v.waits(n):
			return token.NoPos
		case !s.must && (n == v.made || returns):
			return token.NoPos
		case n == v.made:
			return v.again(at)
		case returns:
			return n.Pos()
		}
		s.must = s.must || v.submits(n)
		at = max(at, n.Pos())
	}
	for _, b := range s.Succs {
		next := state{b, s.must}
		if !seen[next] {
			seen[next] = true
			if end := v.lost(next, 0, at, seen); end != token.NoPos {
				return end
			}
		}
	}
	return token.NoPos
}

// again returns where a path that has come to at ends a round of the loop: at a continue, or the end.
func (v *variable) again(at token.Pos) token.Pos {
	if v.loop == nil {
		return v.made.Pos()
	}
	end := v.loop.End()
	inner := token.NoPos // the end of an inner loop, whose continue has no label
	for n := range ast.Preorder(v.loop) {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if n != v.loop {
				inner = max(inner, n.End())
			}
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE && n.Pos() > at && (n.Label != nil || n.Pos() > inner) {
				end = min(end, n.Pos())
			}
		}
	}
	return end
}

// waits reports whether a node waits for v, or hands it on to somebody who can.
func (v *variable) waits(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return !v.is(n.X) || !slices.Contains([]string{"Go", "GoContext", "TryGo", "Stats", "SetLimit"}, n.Sel.Name)
		case *ast.Ident:
			found = found || v.is(n)
		}
		return !found
	})
	return found
}

// submits reports whether a node starts a task of v.
func (v *variable) submits(n ast.Node) bool {
	for n := range ast.Preorder(n) {
		if sel, ok := n.(*ast.SelectorExpr); ok && v.is(sel.X) && strings.Contains(sel.Sel.Name, "Go") {
			return true
		}
	}
	return false
}

func (v *variable) is(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && v.Info.Uses[id] == v.Object
}

// mayReturn reports whether a call may return, as far as its name tells.
func mayReturn(p *tasks.Package, n *ast.CallExpr) bool {
	return p.Callee(n) != "panic" && !p.Calls(n, "os.Exit", "log.Fatal", "log.Panic", "log.Logger.Fatal", "log.Logger.Panic", "runtime.Goexit",
		"testing.common.Fatal", "testing.common.FailNow", "testing.common.Skip")
}

package taskctx

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/stint-go/stint/vet/internal/tasks"
)

//go:embed doc.go
var doc string

// Analyzer reports calls in a task that get another context than the task's.
var Analyzer = tasks.New("taskctx", doc, run)

// A finding is an outer context that a call in a task gets.
type finding struct {
	task tasks.Task
	call *ast.CallExpr
	ctx  ast.Expr
}

func run(pass *analysis.Pass, p *tasks.Package) {
	var found []finding
	for c := range p.Root.Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		arg := p.Context(call)
		if arg == nil {
			continue
		}
		if around := p.Enclosing(c); len(around) > 0 && !deferred(c, around[0]) {
			if ctx := outer(p, arg, around[0]); ctx != nil && !deliberate(p, around[0].Call, ctx) && nests(p, call, arg) {
				found = append(found, finding{around[0], call, ctx})
			}
		}
	}
	for _, f := range found {
		name := types.ExprString(f.ctx)
		message := fmt.Sprintf("%s gets %s in a task that has a context of its own: ", types.ExprString(f.call.Fun), name)
		if f.task.Context != nil {
			message += "pass " + f.task.Context.Name()
		} else {
			message += "name it, and pass it"
		}
		pass.Report(analysis.Diagnostic{Pos: f.ctx.Pos(), End: f.ctx.End(), Message: message, SuggestedFixes: fix(p, f, found)})
	}
}

// deferred reports whether a node of a task runs at the end of the task, when its context may have ended.
func deferred(c inspector.Cursor, task tasks.Task) bool {
	for c := range c.Enclosing((*ast.DeferStmt)(nil)) {
		return tasks.Within(c.Node().Pos(), task)
	}
	return false
}

// outer returns the context from outside of a task that e is, or is made from, or nil.
func outer(p *tasks.Package, e ast.Expr, task tasks.Task) ast.Expr {
	path, ok := p.Path(e, nil)
	if call, isCall := ast.Unparen(e).(*ast.CallExpr); isCall {
		if derives(p, call) {
			return outer(p, call.Args[0], task)
		}
		sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !isSel || sel.Sel.Name != "Context" || len(call.Args) > 0 {
			return nil
		}
		path, ok = p.Path(sel.X, nil)
	}
	switch {
	case !ok || path.Root.Parent() == nil || path.Root.Parent() == path.Root.Pkg().Scope():
		return nil
	case !tasks.Within(path.Root.Pos(), task):
		if p.SetIn(path.Root, task) {
			return nil
		}
		return e
	}
	if value := p.Value(path.Root); value != nil && path.Fields == "" {
		return outer(p, value, task)
	}
	return nil
}

// deliberate reports whether a context from outside of a task was not given to the call of the task, and
// is another for a reason: it ends with nothing, or the one given to Do bounds the time until the task
// begins.
func deliberate(p *tasks.Package, call *tasks.Call, ctx ast.Expr) bool {
	given := p.Context(call.CallExpr)
	if group, ok := p.Made(call.Recv); ok {
		given = p.Context(group)
	}
	if given != nil && types.ExprString(given) == types.ExprString(ctx) {
		return false
	}
	return call.Name == "Do" || detached(p, ctx)
}

// detached reports whether a context does not end with the caller's.
func detached(p *tasks.Package, ctx ast.Expr) bool {
	call, _ := ast.Unparen(ctx).(*ast.CallExpr)
	if id, ok := ast.Unparen(ctx).(*ast.Ident); ok {
		call, _ = p.Value(p.Info.Uses[id]).(*ast.CallExpr)
	}
	return call != nil && (p.Calls(call, "context.Background", "context.TODO", "context.WithoutCancel") || derives(p, call) && detached(p, call.Args[0]))
}

// derives reports whether a call makes a context that ends with another.
func derives(p *tasks.Package, call *ast.CallExpr) bool {
	return p.Calls(call, "context.WithCancel", "context.WithDeadline", "context.WithTimeout", "context.WithValue")
}

// nests reports whether a call is one that should get the context of its task.
func nests(p *tasks.Package, call *ast.CallExpr, ctx ast.Expr) bool {
	if nested(p, call) {
		return true
	}
	want, ok := p.Path(ctx, nil)
	found := false
	if ok {
		p.Called(call, func(s *tasks.Site) {
			if arg := p.Context(s.Call); arg != nil && nested(p, s.Call) {
				got, ok := p.Path(arg, s.Env)
				found = found || ok && got == want
			}
		})
	}
	return found
}

func nested(p *tasks.Package, call *ast.CallExpr) bool {
	if c := p.Call(call); c != nil {
		return !strings.HasPrefix(c.Name, "Try") // which does not wait
	}
	return p.Calls(call, "net.", "database/sql.", "net/http.NewRequestWithContext", "os/exec.CommandContext")
}

// fix passes the task's context. If it has no name, it gets that of the outer one, where that is used
// for nothing else in the task.
func fix(p *tasks.Package, f finding, all []finding) []analysis.SuggestedFix {
	if !usedOutside(p, f) {
		return nil
	}
	if p.Sees(f.task, f.ctx) {
		edit := analysis.TextEdit{Pos: f.ctx.Pos(), End: f.ctx.End(), NewText: []byte(f.task.Context.Name())}
		return []analysis.SuggestedFix{{Message: "Pass the task's context", TextEdits: []analysis.TextEdit{edit}}}
	}
	id, ok := f.ctx.(*ast.Ident)
	if !ok || f.task.Context != nil || !tasks.IsContext(p.Info.TypeOf(id)) {
		return nil
	}
	for n := range ast.Preorder(f.task.Body) {
		use, ok := n.(*ast.Ident)
		reported := func(f finding) bool { return f.ctx == use }
		if ok && p.Info.Uses[use] == p.Info.Uses[id] && !slices.ContainsFunc(all, reported) {
			return nil
		}
	}
	var edits []analysis.TextEdit
	for _, field := range f.task.Type.Params.List {
		name := "_"
		if tasks.IsContext(p.Info.TypeOf(field.Type)) {
			name = id.Name
		}
		switch {
		case len(field.Names) == 0:
			edits = append(edits, analysis.TextEdit{Pos: field.Pos(), End: field.Pos(), NewText: []byte(name + " ")})
		case name != "_":
			edits = append(edits, analysis.TextEdit{Pos: field.Names[0].Pos(), End: field.Names[0].End(), NewText: []byte(name)})
		}
	}
	return []analysis.SuggestedFix{{Message: "Name the task's context " + id.Name, TextEdits: edits}}
}

// usedOutside reports whether the variables of the outer context are used without it, as they must be.
func usedOutside(p *tasks.Package, f finding) bool {
	used := map[types.Object]bool{}
	for id, o := range p.Info.Uses {
		used[o] = used[o] || !tasks.Within(id.Pos(), f.task)
	}
	for n := range ast.Preorder(f.ctx) {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := p.Info.Uses[id].(*types.Var); ok && v.Kind() == types.LocalVar && !used[v] {
				return false
			}
		}
	}
	return true
}

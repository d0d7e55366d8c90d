package taskgo

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/edge"

	"github.com/stint-go/stint/vet/internal/tasks"
)

//go:embed doc.go
var doc string

// Analyzer reports tasks that wait for themselves.
var Analyzer = tasks.New("taskgo", doc, run)

func run(pass *analysis.Pass, p *tasks.Package) {
	reported := map[*ast.CallExpr]bool{}
	for _, task := range p.Tasks {
		held := p.Held(task.Call, task.Env)
		p.Reach(task.Func, func(s *tasks.Site) {
			inner := p.Call(s.Call)
			if inner == nil || reported[s.Call] {
				return
			}
			if on, found := waits(p, s, inner, held); found {
				reported[s.Call] = true
				report(pass, p, inner, task.At, on)
			}
		})
	}
}

// waits reports whether a call waits for the tasks that run on held, and on which of these.
func waits(p *tasks.Package, s *tasks.Site, inner *tasks.Call, held []tasks.Path) (on tasks.Path, found bool) {
	if inner.Recv == nil {
		return on, false
	}
	own, ok := p.Path(inner.Recv, s.Env)
	if !ok || s.Local(own) {
		return on, false
	}
	wanted := []tasks.Path{own}
	switch inner.Name {
	case "Go":
		wanted = p.Held(inner, s.Env)
	case "Wait", "Close":
	default:
		return on, false
	}
	for _, on := range held {
		if slices.Contains(wanted, on) {
			return on, true
		}
	}
	return on, false
}

func report(pass *analysis.Pass, p *tasks.Package, inner *tasks.Call, at *ast.CallExpr, on tasks.Path) {
	recv := types.ExprString(inner.Recv)
	d := analysis.Diagnostic{
		Pos: inner.Pos(), End: inner.End(),
		Message: fmt.Sprintf("%s.%s in a task of %s waits for the task itself, for ever: call it outside of its tasks", recv, inner.Name, on),
	}
	if inner.Name == "Go" {
		d.Message = fmt.Sprintf("%s.Go in a task of %s can wait for ever: call %s.GoContext with the task's context", recv, on, recv)
		d.SuggestedFixes = fix(p, inner)
	}
	if !tasks.Within(inner.Pos(), at) {
		d.Message += fmt.Sprintf(" (the task is started in line %d)", pass.Fset.Position(at.Pos()).Line)
	}
	pass.Report(d)
}

// fix replaces Go by GoContext where the result is unused, or only tells whether f was accepted.
func fix(p *tasks.Package, inner *tasks.Call) []analysis.SuggestedFix {
	c, _ := p.Root.FindNode(inner.CallExpr)
	around := p.Enclosing(c)
	sel, ok := ast.Unparen(inner.Fun).(*ast.SelectorExpr)
	if !ok || len(around) == 0 || !p.Sees(around[0], inner) || tasks.Around(c) != around[0].Body {
		return nil
	}
	edits := []analysis.TextEdit{
		{Pos: sel.Sel.Pos(), End: sel.Sel.End(), NewText: []byte("GoContext")},
		{Pos: inner.Lparen + 1, End: inner.Lparen + 1, NewText: []byte(around[0].Context.Name() + ", ")},
	}
	after := func(text string) {
		edits = append(edits, analysis.TextEdit{Pos: inner.End(), End: inner.End(), NewText: []byte(text)})
	}
	parent := c.Parent()
	not, negated := parent.Node().(*ast.UnaryExpr)
	switch {
	case c.ParentEdgeKind() == edge.ExprStmt_X, inner.Type == "Pool":
	case c.ParentEdgeKind() == edge.IfStmt_Cond:
		after(" == nil")
	case negated && not.Op == token.NOT && parent.ParentEdgeKind() == edge.IfStmt_Cond:
		edits = append(edits, analysis.TextEdit{Pos: not.Pos(), End: inner.Pos()})
		after(" != nil")
	default:
		return nil
	}
	return []analysis.SuggestedFix{{Message: "Call GoContext with the task's context", TextEdits: edits}}
}

package nestorder

import (
	_ "embed"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/stint-go/stint/vet/internal/tasks"
)

//go:embed doc.go
var doc string

// Analyzer reports two limiters that are nested in both orders.
var Analyzer = tasks.New("nestorder", doc, run)

// An order is two limiters, the outer first.
type order struct{ outer, inner types.Object }

func run(pass *analysis.Pass, p *tasks.Package) {
	nested := map[order]token.Pos{} // where first
	var orders []order              // as they were found
	for _, task := range p.Tasks {
		outer := limiters(p, task.Call, task.Env)
		held := outer // also by the tasks around the call
		c, _ := p.Root.FindNode(task.At)
		for _, around := range p.Enclosing(c) {
			held = append(slices.Clip(held), limiters(p, around.Call, around.Env)...)
		}
		p.Reach(task.Func, func(s *tasks.Site) {
			at := s.Call.Pos()
			if task.At != task.Call.CallExpr { // both orders may be in the helper
				at = task.At.Pos()
			}
			for _, inner := range waitsFor(p, s) {
				for _, o := range outer {
					if now := (order{o, inner}); !slices.Contains(held, inner) && nested[now] == token.NoPos {
						nested[now] = at
						orders = append(orders, now)
					}
				}
			}
		})
	}
	for _, o := range orders {
		here, there := nested[o], nested[order{o.inner, o.outer}]
		if there == token.NoPos || here < there {
			continue
		}
		at := pass.Fset.Position(there)
		pass.Report(analysis.Diagnostic{
			Pos:     here,
			Message: fmt.Sprintf("%s is used in a task on %s, and in %s:%d the other way round: each can wait for the other; nest them in the same order", o.inner.Name(), o.outer.Name(), filepath.Base(at.Filename), at.Line),
			Related: []analysis.RelatedInformation{{Pos: there, Message: fmt.Sprintf("%s is used in a task on %s", o.outer.Name(), o.inner.Name())}},
		})
	}
}

// waitsFor returns the limiters for whose permits a call waits.
func waitsFor(p *tasks.Package, s *tasks.Site) []types.Object {
	call := p.Call(s.Call)
	if call == nil || len(call.Tasks) == 0 || strings.HasPrefix(call.Name, "Try") {
		return nil
	}
	return limiters(p, call, s.Env)
}

// limiters returns the limiters and pools that the tasks of a call run on.
func limiters(p *tasks.Package, call *tasks.Call, env tasks.Env) []types.Object {
	var found []types.Object
	for _, path := range p.Held(call, env) {
		if path.IsLimit() {
			found = append(found, path.Last)
		}
	}
	return found
}

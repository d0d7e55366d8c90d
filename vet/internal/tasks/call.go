package tasks

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// A Call is a call of a function or method of stint.
type Call struct {
	*ast.CallExpr
	Name   string
	Recv   ast.Expr   // nil for a function
	Type   string     // of the receiver, such as Group; or ""
	Tasks  []ast.Expr // the arguments that are functions with a context
	limits []ast.Expr // the arguments that are limiters or pools
}

// Call returns the call of stint that n is, or nil.
func (p *Package) Call(n *ast.CallExpr) *Call {
	f, ok := typeutil.Callee(p.Info, n).(*types.Func)
	if !ok || !ours(f.Pkg()) {
		return nil
	}
	c := &Call{CallExpr: n, Name: f.Name()}
	if sig := f.Signature(); sig.Recv() != nil {
		if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
			c.Recv, c.Type = sel.X, named(sig.Recv().Type(), module)
		}
	}
	for _, arg := range n.Args {
		switch t := p.Info.TypeOf(arg).(type) {
		case *types.Signature:
			if ctx(t) >= 0 {
				c.Tasks = append(c.Tasks, arg)
			}
		default:
			if isLimit(t) {
				c.limits = append(c.limits, arg)
			}
		}
	}
	return c
}

// named returns the name of a type of a package, or of what it points to, or "".
func named(t types.Type, pkg string) string {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg {
		return n.Obj().Name()
	}
	return ""
}

// IsLimit reports whether a path is a limiter, limiters or a pool.
func (p Path) IsLimit() bool { return isLimit(p.Last.Type()) }

func isLimit(t types.Type) bool {
	return slices.Contains([]string{"Limiter", "Limiters", "Pool"}, named(t, module))
}

// IsContext reports whether a type is context.Context.
func IsContext(t types.Type) bool { return named(t, "context") == "Context" }

// ctx returns the index of the first parameter that is a context, or -1.
func ctx(sig *types.Signature) int {
	return slices.IndexFunc(slices.Collect(sig.Params().Variables()), func(v *types.Var) bool { return IsContext(v.Type()) })
}

// Context returns the argument of a call that is its context, or nil.
func (p *Package) Context(n *ast.CallExpr) ast.Expr {
	if sig, ok := p.Info.TypeOf(n.Fun).(*types.Signature); ok {
		if i := ctx(sig); i >= 0 && i < len(n.Args) {
			return n.Args[i]
		}
	}
	return nil
}

// Held returns what the tasks of a call run on, as far as it has names: its group, its pool, its
// limiter.
func (p *Package) Held(c *Call, env Env) []Path {
	var held []Path
	limits := c.limits
	if c.Recv != nil {
		limits = append([]ast.Expr{c.Recv}, limits...)
	}
	for _, e := range limits {
		path, ok := p.Path(e, env)
		if !ok {
			continue
		}
		held = append(held, path)
		if made, ok := p.made(path); ok {
			if c := p.Call(made); c != nil && c.Recv == nil {
				held = append(held, p.Held(c, nil)...)
			}
		}
	}
	return held
}

// Made returns the call whose result is the value of e, if e is a variable that has no other.
func (p *Package) Made(e ast.Expr) (*ast.CallExpr, bool) {
	path, ok := p.Path(e, nil)
	if !ok {
		return nil, false
	}
	return p.made(path)
}

func (p *Package) made(path Path) (*ast.CallExpr, bool) {
	call, ok := p.Value(path.Root).(*ast.CallExpr)
	return call, ok && path.Fields == ""
}

// A Task is a function that is a task of a call.
type Task struct {
	Func
	Call    *Call
	At      *ast.CallExpr // Call, or the call of a helper that is given a literal and makes Call
	Env     Env           // what the parameters of the helper are
	Context *types.Var    // its parameter, or nil if it has no name
}

// tasks returns the tasks of a call whose bodies are known.
func (p *Package) tasks(at *ast.CallExpr) []Task {
	var found []Task
	add := func(call *Call, env Env) {
		for _, arg := range call.Tasks {
			for _, f := range p.Funcs(arg, env) {
				t := Task{Func: f, Call: call, At: at, Env: env}
				for _, field := range f.Type.Params.List {
					if t.Context == nil && len(field.Names) > 0 && field.Names[0].Name != "_" && IsContext(p.Info.TypeOf(field.Type)) {
						t.Context = p.Info.Defs[field.Names[0]].(*types.Var)
					}
				}
				found = append(found, t)
			}
		}
	}
	if call := p.Call(at); call != nil {
		add(call, nil)
	} else if slices.ContainsFunc(at.Args, func(e ast.Expr) bool { return literal(e) != nil }) {
		p.Called(at, func(s *Site) {
			if call := p.Call(s.Call); call != nil {
				add(call, s.Env)
			}
		})
	}
	return found
}

func literal(e ast.Expr) *ast.FuncLit {
	lit, _ := ast.Unparen(e).(*ast.FuncLit)
	return lit
}

// Enclosing returns the tasks around a node, the innermost first, that run on the goroutine of the
// node.
func (p *Package) Enclosing(c inspector.Cursor) []Task {
	var found []Task
	for c := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil), (*ast.GoStmt)(nil)) {
		body := Body(c.Node())
		if body == nil {
			break
		}
		if i := slices.IndexFunc(p.Tasks, func(t Task) bool { return t.Body == body }); i >= 0 {
			found = append(found, p.Tasks[i])
		}
	}
	return found
}

// Body returns the body of a literal or a declaration of a function, or nil.
func Body(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.FuncLit:
		return n.Body
	case *ast.FuncDecl:
		return n.Body
	}
	return nil
}

// Around returns the body of the function that a node is in, or nil.
func Around(c inspector.Cursor) *ast.BlockStmt {
	for c := range c.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		return Body(c.Node())
	}
	return nil
}

// Sees reports whether the name of the task's context means it at a node of the task.
func (p *Package) Sees(t Task, n ast.Node) bool {
	if t.Context == nil {
		return false
	}
	_, found := p.self.Scope().Innermost(n.Pos()).LookupParent(t.Context.Name(), n.Pos())
	return found == t.Context
}

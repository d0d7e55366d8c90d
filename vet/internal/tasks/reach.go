package tasks

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"maps"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// A Func is a function whose body is known.
type Func struct {
	Type *ast.FuncType
	Body *ast.BlockStmt
	env  Env
}

// Pos and End are those of its parameters and its body: a receiver is outside.
func (f Func) Pos() token.Pos { return f.Type.Params.Pos() }
func (f Func) End() token.Pos { return f.Body.End() }

// A Site is a call that a function makes, directly or by functions that it calls.
type Site struct {
	Call *ast.CallExpr
	Env  Env // what the parameters there are for the function

	bodies []*ast.BlockStmt
}

// Local reports whether a path begins with a variable that was declared on the way to the site.
func (s *Site) Local(path Path) bool {
	return slices.ContainsFunc(s.bodies, func(b *ast.BlockStmt) bool { return Within(path.Root.Pos(), b) })
}

// maxDepth bounds how far calls are followed.
const maxDepth = 10

// Funcs returns the functions that an expression can be. It knows literals, variables that are set
// once, functions and methods of the package, and literals that these return.
func (p *Package) Funcs(e ast.Expr, env Env) []Func { return p.funcs(e, env, 0) }

func (p *Package) funcs(e ast.Expr, env Env, depth int) []Func {
	if depth > maxDepth {
		return nil
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return []Func{{e.Type, e.Body, env}}
	case *ast.IndexExpr:
		return p.funcs(e.X, env, depth)
	case *ast.IndexListExpr:
		return p.funcs(e.X, env, depth)
	case *ast.Ident:
		if lit := env[p.Info.Uses[e]].literal; lit != nil {
			return []Func{{lit.Type, lit.Body, nil}}
		}
		if value := p.Value(p.Info.Uses[e]); value != nil {
			return p.funcs(value, env, depth+1)
		}
		return p.declared(p.Info.Uses[e], nil, env)
	case *ast.SelectorExpr:
		return p.declared(p.Info.Uses[e.Sel], e.X, env)
	case *ast.CallExpr:
		var made []Func
		for _, f := range p.called(e, env, depth+1) {
			for n := range ast.Preorder(f.Body) {
				if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
					if lit, ok := ast.Unparen(r.Results[0]).(*ast.FuncLit); ok {
						made = append(made, Func{lit.Type, lit.Body, f.env})
					}
				}
			}
		}
		return made
	}
	return nil
}

// declared returns a function or method of the package.
func (p *Package) declared(o types.Object, recv ast.Expr, env Env) []Func {
	f, ok := o.(*types.Func)
	if !ok {
		return nil
	}
	d := p.decls[f.Origin()]
	if d == nil || d.Body == nil {
		return nil
	}
	bound := Env{}
	if d.Recv != nil && len(d.Recv.List[0].Names) == 1 && recv != nil {
		p.bind(bound, d.Recv.List[0].Names[0], recv, env)
	}
	return []Func{{d.Type, d.Body, bound}}
}

// called returns the functions that a call may call, with their parameters.
func (p *Package) called(n *ast.CallExpr, env Env, depth int) []Func {
	found := p.funcs(n.Fun, env, depth)
	for i := range found {
		f := &found[i]
		f.env = maps.Clone(f.env)
		if f.env == nil {
			f.env = Env{}
		}
		for name, arg := range f.arguments(n) {
			p.bind(f.env, name, arg, env)
		}
	}
	return found
}

// arguments yields the parameters of a function that have names, with the arguments of a call: not a
// variadic one, which is a list of them.
func (f Func) arguments(n *ast.CallExpr) iter.Seq2[*ast.Ident, ast.Expr] {
	return func(yield func(*ast.Ident, ast.Expr) bool) {
		i := 0
		for _, field := range f.Type.Params.List {
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				return
			}
			for _, name := range field.Names {
				if i < len(n.Args) && !yield(name, n.Args[i]) {
					return
				}
				i++
			}
		}
	}
}

func (p *Package) bind(to Env, name *ast.Ident, arg ast.Expr, env Env) {
	if o := p.Info.Defs[name]; o != nil {
		path, _ := p.Path(arg, env)
		if lit := literal(arg); lit != nil {
			path.literal = lit
		}
		to[o] = path
	}
}

// later are the names of functions that run their argument on another goroutine, or later.
var later = []string{"Go", "GoContext", "TryGo", "AfterFunc", "Submit", "Handle", "HandleFunc"}

// Reach calls visit for the calls that f makes, on its own goroutine or in tasks that it waits for.
func (p *Package) Reach(f Func, visit func(*Site)) {
	r := reach{p, visit, map[*ast.BlockStmt][]Env{}}
	r.walk(f, nil)
}

// Called is Reach for the functions of the package that a call calls.
func (p *Package) Called(n *ast.CallExpr, visit func(*Site)) {
	for _, f := range p.called(n, nil, 0) {
		p.Reach(f, visit)
	}
}

type reach struct {
	*Package
	visit func(*Site)
	seen  map[*ast.BlockStmt][]Env
}

func (r *reach) walk(f Func, bodies []*ast.BlockStmt) {
	same := func(env Env) bool { return maps.Equal(env, f.env) }
	if len(bodies) > maxDepth || slices.ContainsFunc(r.seen[f.Body], same) {
		return
	}
	r.seen[f.Body] = append(r.seen[f.Body], f.env)
	bodies = append(slices.Clip(bodies), f.Body)
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.FuncLit: // a literal runs where it is called
			return false
		case *ast.CallExpr:
			site := &Site{n, f.env, bodies}
			r.visit(site)
			for _, called := range r.called(n, f.env, 0) {
				r.walk(called, bodies)
			}
			if !r.elsewhere(site) {
				for _, arg := range n.Args {
					for _, called := range r.funcs(arg, f.env, 0) {
						r.walk(called, bodies)
					}
				}
			}
		}
		return true
	})
}

// elsewhere reports whether the functions that are arguments of a call run on another goroutine that
// the caller need not wait for, or later.
func (r *reach) elsewhere(s *Site) bool {
	if c := r.Call(s.Call); c != nil && c.Recv != nil {
		if path, ok := r.Path(c.Recv, s.Env); ok && s.Local(path) {
			return false
		}
	}
	f := typeutil.Callee(r.Info, s.Call)
	return f != nil && slices.Contains(later, f.Name())
}

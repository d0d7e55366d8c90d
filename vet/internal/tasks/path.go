package tasks

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A Path is a variable, or a field reached from one: limit, or c.pools.small.
type Path struct {
	Root   types.Object
	Fields string       // ".pools.small", or ""
	Last   types.Object // the variable or the field itself

	literal *ast.FuncLit // what the parameter of a helper is, which is no path
}

func (p Path) String() string { return p.Root.Name() + p.Fields }

// An Env has what the parameters of a function are for its caller: no path if they are none.
type Env map[types.Object]Path

// maxFields bounds a Path, which grows where a function calls itself with a field of its argument.
const maxFields = 4

// Path returns the path that an expression means.
func (p *Package) Path(e ast.Expr, env Env) (Path, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		return p.Path(e.X, env)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return p.Path(e.X, env)
		}
	case *ast.Ident:
		v, ok := p.Info.ObjectOf(e).(*types.Var)
		if !ok {
			return Path{}, false
		}
		if bound, ok := env[v]; ok {
			return bound, bound.Root != nil
		}
		switch value := p.Value(v); ast.Unparen(value).(type) {
		case *ast.Ident, *ast.SelectorExpr, *ast.StarExpr:
			if path, ok := p.Path(value, env); ok {
				return path, true
			}
		}
		return Path{Root: v, Last: v}, true
	case *ast.SelectorExpr:
		v, ok := p.Info.Uses[e.Sel].(*types.Var)
		if !ok {
			return Path{}, false
		}
		if p.Info.Selections[e] == nil { // a variable of another package
			return Path{Root: v, Last: v}, true
		}
		if path, ok := p.Path(e.X, env); ok && strings.Count(path.Fields, ".") < maxFields {
			return Path{Root: path.Root, Fields: path.Fields + "." + v.Name(), Last: v}, true
		}
	}
	return Path{}, false
}

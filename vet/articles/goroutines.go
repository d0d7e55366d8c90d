package articles

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// unbounded reports goroutines that a loop starts for each of its items.
func (c *checker) unbounded() {
	for cur := range c.Root.Preorder((*ast.GoStmt)(nil), (*ast.CallExpr)(nil)) {
		fn := c.started(cur.Node())
		for loop := range cur.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
			if fn == nil {
				break
			}
			if items, use := c.items(loop); items != "" && !c.excused(cur.Node(), loop, c.function(fn)) {
				c.Reportf(cur.Node().Pos(), "a goroutine for each %s, and nothing bounds their number: use %s (%s)", items, use, goperf)
			}
			break
		}
	}
}

// items describes the items of a loop that has as many as its caller wants, and the call to
// use.
func (c *checker) items(loop inspector.Cursor) (items, use string) {
	var over ast.Expr
	switch n := loop.Node().(type) {
	case *ast.RangeStmt:
		over = n.X
	case *ast.ForStmt:
		switch cond := n.Cond.(type) {
		case *ast.BinaryExpr:
			if over = cond.Y; n.Post == nil || cond.Op != token.LSS && cond.Op != token.LEQ {
				return "", ""
			}
		case *ast.CallExpr:
			if c.Callee(cond) == "bufio.Scanner.Scan" {
				return "line", "stint.EachSeq, or Go of a stint.Group"
			}
		}
	}
	if over == nil {
		return "", ""
	}
	if v := c.Info.Types[over].Value; v != nil {
		if n, ok := constant.Int64Val(constant.ToInt(v)); ok && n > 1000 {
			return fmt.Sprintf("of %d numbers", n), "stint.Range, or par.Range if it computes"
		}
		return "", ""
	}
	if call, ok := over.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "len" {
		over = call.Args[0]
	}
	text := types.ExprString(over)
	if few.MatchString(text) {
		return "", ""
	}
	switch t := c.Info.TypeOf(over).Underlying().(type) {
	case *types.Chan:
		if data(t.Elem()) {
			return "value of " + text, "stint.EachSeq, or Go of a stint.Group"
		}
	case *types.Map:
		if data(t.Key()) && data(t.Elem()) && c.given(over) && c.joined(loop) {
			return "entry of " + text, "stint.EachSeq"
		}
	case *types.Slice:
		if data(t.Elem()) && c.given(over) && c.joined(loop) {
			return "element of " + text, "stint.Each"
		}
	}
	return "", ""
}

// data reports whether values of a type are plain data, of which there may be many: they
// have no functions, channels and interfaces. A list of lists is one of few parts.
func data(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Slice:
		return types.Identical(u.Elem(), types.Typ[types.Byte])
	case *types.Pointer:
		s, ok := u.Elem().Underlying().(*types.Struct)
		return ok && data(s)
	case *types.Struct:
		for f := range u.Fields() {
			switch f.Type().Underlying().(type) {
			case *types.Signature, *types.Chan, *types.Interface, *types.Pointer:
				return false
			case *types.Struct:
				if !data(f.Type()) {
					return false
				}
			}
		}
		return u.NumFields() > 0
	}
	return false
}

// given reports whether a list is a parameter, and not a variadic one, or has been read from
// a directory, a text or the command line.
func (c *checker) given(list ast.Expr) bool {
	read := func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		return ok && listing.MatchString(c.Callee(call))
	}
	v, ok := c.Object(list).(*types.Var)
	return read(list) || ok && (v.Kind() == types.ParamVar && !c.Variadic(v) || !v.IsField() && slices.ContainsFunc(c.Values(v), read))
}

// joined reports whether the function around a loop waits for what the loop has started, by
// Wait or by a receive.
func (c *checker) joined(loop inspector.Cursor) (joined bool) {
	for f := range loop.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		ast.Inspect(f.Node(), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				joined = joined || strings.HasSuffix(c.Callee(n), "Group.Wait") && n.Pos() > loop.Node().Pos()
			case *ast.UnaryExpr:
				joined = joined || n.Op == token.ARROW && n.Pos() > loop.Node().End()
			case *ast.RangeStmt:
				joined = joined || c.channel(n.X) && n.Pos() > loop.Node().End()
			}
			return true
		})
		break
	}
	return joined
}

func (c *checker) channel(e ast.Expr) bool {
	_, channel := c.Info.TypeOf(e).Underlying().(*types.Chan)
	return channel
}

// The functions that read lists, the names of lists that are configured, and those of
// functions that may wait for a permit or serve to the end.
var (
	listing = regexp.MustCompile(`^(bytes|flag|io/fs|os|path/filepath|regexp|strings)\.`)
	few     = regexp.MustCompile(`(?i)(server|endpoint|addr|peer|node|replica|broker|shard|provider|backend|member)`)
	excuses = regexp.MustCompile(`(?i)(acquire|wait|limit|allow|reserve|take|token|slot|permit|serve|listen|watch|loop|run|start|accept|monitor|poll|forever|consume|worker)[^./]*$`)
)

// excused reports whether something in the loop or the goroutine may bound the number of
// goroutines, or makes it one that serves until the program ends.
func (c *checker) excused(start ast.Node, loop inspector.Cursor, fn *ast.BlockStmt) (excused bool) {
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectStmt:
			excused = true
		case *ast.ForStmt:
			excused = excused || n.Cond == nil
		case *ast.RangeStmt:
			excused = excused || c.channel(n.X) && n != loop.Node()
		case *ast.SendStmt:
			excused = excused || n.Pos() < start.Pos() || c.signals(n.Chan)
		case *ast.UnaryExpr:
			excused = excused || n.Op == token.ARROW
		case *ast.CallExpr:
			name := c.Callee(n)
			excused = excused || excuses.MatchString(name) || name == "time.Sleep" && n.Pos() < start.Pos()
		case *ast.IfStmt:
			cond, ok := n.Cond.(*ast.BinaryExpr)
			excused = excused || ok && n.Pos() < start.Pos() && slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, cond.Op)
		}
		return !excused
	}
	ast.Inspect(loop.Node(), visit)
	if fn != nil {
		c.walk(fn, func(n ast.Node, _ bool) bool {
			_, call := n.(*ast.CallExpr)
			return call || visit(n)
		})
	}
	for f := range loop.Enclosing((*ast.FuncDecl)(nil)) {
		ast.Inspect(f.Node(), func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			excused = excused || ok && sel.Sel.Name == "SetLimit"
			return !excused
		})
	}
	return excused
}

// signals reports whether the values of a channel are empty, as those of a semaphore.
func (c *checker) signals(ch ast.Expr) bool {
	t, ok := c.Info.TypeOf(ch).Underlying().(*types.Chan)
	if !ok {
		return false
	}
	s, ok := t.Elem().Underlying().(*types.Struct)
	return ok && s.NumFields() == 0 || types.Identical(t.Elem(), types.Typ[types.Bool])
}

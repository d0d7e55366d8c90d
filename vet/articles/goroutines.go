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
	for cur := range c.root.Preorder((*ast.GoStmt)(nil), (*ast.CallExpr)(nil)) {
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
			if c.callee(cond) == "bufio.Scanner.Scan" {
				return "line", "stint.EachSeq, or Go of a stint.Group"
			}
		}
	}
	if over == nil {
		return "", ""
	}
	if v := c.TypesInfo.Types[over].Value; v != nil {
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
	switch t := c.TypesInfo.TypeOf(over).Underlying().(type) {
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
		return ok && listing.MatchString(c.callee(call))
	}
	v, ok := c.object(list).(*types.Var)
	return read(list) || ok && (v.Kind() == types.ParamVar && !c.listed[v] || !v.IsField() && slices.ContainsFunc(c.flows[v], read))
}

// joined reports whether the function around a loop waits for what the loop has started, by
// Wait or by a receive.
func (c *checker) joined(loop inspector.Cursor) (joined bool) {
	for f := range loop.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		ast.Inspect(f.Node(), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				joined = joined || strings.HasSuffix(c.callee(n), "Group.Wait") && n.Pos() > loop.Node().Pos()
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
	_, channel := c.TypesInfo.TypeOf(e).Underlying().(*types.Chan)
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
func (c *checker) excused(start ast.Node, loop inspector.Cursor, fn ast.Node) (excused bool) {
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
			name := c.callee(n)
			excused = excused || excuses.MatchString(name) || name == "time.Sleep" && n.Pos() < start.Pos()
		case *ast.IfStmt:
			cond, ok := n.Cond.(*ast.BinaryExpr)
			excused = excused || ok && n.Pos() < start.Pos() && slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, cond.Op)
		}
		return !excused
	}
	ast.Inspect(loop.Node(), visit)
	c.walk(fn, func(n ast.Node, _ bool) bool {
		_, call := n.(*ast.CallExpr)
		return call || visit(n)
	})
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
	t, ok := c.TypesInfo.TypeOf(ch).Underlying().(*types.Chan)
	if !ok {
		return false
	}
	s, ok := t.Elem().Underlying().(*types.Struct)
	return ok && s.NumFields() == 0 || types.Identical(t.Elem(), types.Typ[types.Bool])
}

// adds reports WaitGroup.Add in the goroutine that it counts: with a Done, and without
// another Add, Wait or goroutine that may be the one counted.
func (c *checker) adds() {
	seen := map[token.Pos]bool{}
	for cur := range c.root.Preorder((*ast.GoStmt)(nil)) {
		start := cur.Node().(*ast.GoStmt)
		fn := c.function(start.Call.Fun)
		if fn == nil {
			continue
		}
		inside := c.groups(fn, nil)
		for group, pos := range inside["Add"] {
			others := inside["other"][group] + inside["Wait"][group]
			for f := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
				others += c.groups(f.Node(), start)["Add"][group]
			}
			if inside["Done"][group] > 0 && others == 0 && !seen[pos] {
				seen[pos] = true
				c.Reportf(pos, "WaitGroup.Add in the goroutine that it counts, before which Wait may return: start it by Go of the WaitGroup, or of a stint.Group")
			}
		}
	}
}

// groups returns where fn calls methods of WaitGroups, by the method's name and that of the
// WaitGroup; "other" are calls in functions within fn, of a node skip none.
func (c *checker) groups(fn, skip ast.Node) map[string]map[string]token.Pos {
	found := map[string]map[string]token.Pos{"Add": {}, "Done": {}, "Wait": {}, "Go": {}, "other": {}}
	var deferred ast.Expr
	var inner ast.Node
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt:
			deferred = n.Call.Fun
		case *ast.GoStmt:
			inner = n
		case *ast.FuncLit:
			if n != fn && n != deferred {
				inner = n
			}
		case *ast.CallExpr:
			method, ok := strings.CutPrefix(c.callee(n), "sync.WaitGroup.")
			if sel, is := n.Fun.(*ast.SelectorExpr); ok && is {
				group := types.ExprString(sel.X)
				group = group[strings.LastIndex(group, ".")+1:]
				if inner != nil && n.Pos() < inner.End() {
					method = "other"
				}
				found[method][group] = n.Pos()
			}
		}
		return n != skip
	})
	return found
}

package articles

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
)

// The functions that read one record, open a file or memory to read, make a reader of a
// reader, compute, and wait for something outside of the process.
var (
	reader  = regexp.MustCompile(`^(bufio.(Scanner.Scan|Reader.Read(String|Bytes|Line|Slice))|encoding/csv.Reader.Read|encoding/binary.Read.*|io.ReadFull)$`)
	opener  = regexp.MustCompile(`^(os.Open|os.OpenFile|strings.NewReader|bytes.NewReader|bytes.NewBuffer|bytes.NewBufferString)$`)
	wrapper = regexp.MustCompile(`^(bufio|compress/gzip|encoding/csv|io)\.`)
	cheap   = regexp.MustCompile(`^(bytes|cmp|errors|maps|math|math/bits|slices|sort|strconv|strings|unicode|unicode/utf8)\.`)
	waiting = regexp.MustCompile(`^(time.Sleep|net.(Dialer.)?(Dial|Lookup).*|net/http.(Client.)?(Do|Get|Head|Post|PostForm)|database/sql.(Conn|DB|Stmt|Tx).(Exec|Query).*)$`)
)

// records reports loops that read records from a file or memory and send each, if all who
// receive them only compute.
func (c *checker) records() {
	for cur := range c.Root.Preorder((*ast.ForStmt)(nil)) {
		loop := cur.Node().(*ast.ForStmt)
		local := false
		c.walk(loop, func(n ast.Node, _ bool) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if reader.MatchString(c.Callee(call)) {
				from := call.Args
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && c.Info.Selections[sel] != nil {
					from = []ast.Expr{sel.X}
				}
				local = local || c.source(from[0], c.opened)
			}
			return !local
		})
		ast.Inspect(loop.Body, func(n ast.Node) bool {
			send, ok := n.(*ast.SendStmt)
			if local && ok && c.record(send.Value) && c.computed(send.Chan) {
				c.Reportf(send.Pos(), "a channel operation for each record, which costs more than the record: read where it is used, or by package stint/stream, whose Buffer sends many at a time (%s)", channels)
			}
			_, loop := n.(*ast.RangeStmt)
			return !loop
		})
	}
}

// opened reports whether e opens a file or memory to read.
func (c *checker) opened(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && opener.MatchString(c.Callee(call))
}

// record reports whether a value is one record, and not a list of them or a signal.
func (c *checker) record(e ast.Expr) bool {
	switch t := c.Info.TypeOf(e).Underlying().(type) {
	case *types.Slice:
		return types.Identical(t.Elem(), types.Typ[types.Byte]) || types.Identical(t.Elem(), types.Typ[types.String])
	case *types.Struct:
		return t.NumFields() > 0
	}
	return true
}

// computed reports whether this package receives from a channel, not with many workers, and
// only computes with what it receives.
func (c *checker) computed(ch ast.Expr) bool {
	var made []ast.Expr
	c.source(ch, func(e ast.Expr) bool {
		if call, ok := e.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "make" {
			made = append(made, e)
		}
		return false
	})
	receivers := 0
	for cur := range c.Root.Preorder((*ast.RangeStmt)(nil), (*ast.UnaryExpr)(nil)) {
		var from ast.Expr
		body := cur.Node()
		switch n := body.(type) {
		case *ast.RangeStmt:
			from = n.X
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				from = n.X
			}
		}
		if from == nil || !c.source(from, func(e ast.Expr) bool { return slices.Contains(made, e) }) {
			continue
		}
		receivers++
		literal := false
		for outer := range cur.Enclosing((*ast.RangeStmt)(nil), (*ast.ForStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
			_, range_ := body.(*ast.RangeStmt)
			_, is := outer.Node().(*ast.FuncLit)
			if _, decl := outer.Node().(*ast.FuncDecl); literal && !is && !decl {
				return false // a goroutine for each item of a loop
			}
			if literal = literal || is; body == cur.Node() && !range_ {
				body = outer.Node()
			}
		}
		if !c.computes(body) {
			return false
		}
	}
	return receivers > 0
}

// computes reports whether a statement calls only functions of cheap packages and of this
// one, sends nothing and starts nothing.
func (c *checker) computes(body ast.Node) bool {
	computes := true
	c.walk(body, func(n ast.Node, _ bool) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SendStmt:
			computes = false
		case *ast.CallExpr:
			tv := c.Info.Types[n.Fun]
			computes = tv.IsType() || tv.IsBuiltin() || cheap.MatchString(c.Callee(n)) || c.function(n.Fun) != nil
		}
		return computes
	})
	return computes
}

// stages reports goroutines that receive numbers, compute, and send each result.
func (c *checker) stages() {
	number := func(e ast.Expr) bool {
		b, ok := c.Info.TypeOf(e).Underlying().(*types.Basic)
		return ok && b.Info()&types.IsNumeric != 0
	}
	for cur := range c.Root.Preorder((*ast.RangeStmt)(nil)) {
		loop := cur.Node().(*ast.RangeStmt)
		if loop.Key == nil || !c.channel(loop.X) || !number(loop.Key) || len(loop.Body.List) != 1 {
			continue
		}
		if send, ok := loop.Body.List[0].(*ast.SendStmt); ok && number(send.Value) && c.computes(send.Value) {
			if _, forwards := send.Value.(*ast.Ident); !forwards {
				c.Reportf(send.Pos(), "two channel operations for each number, which cost more than the number: use par.Map, or stream.Map for a sequence (%s)", pools)
			}
		}
	}
}

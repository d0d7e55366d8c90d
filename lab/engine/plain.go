package engine

import "github.com/stint-go/stint/lab/result"

// Plain is a loop on the caller's goroutine.
func Plain() Loop {
	return Loop{Model: result.Peer.Model("plain", "for i := range n { f(i) }"),
		Run: func(n, _ int, b Body) {
			for i := range n {
				b.Plain(i)
			}
		}}
}

// PlainRange is a loop without a call per item.
func PlainRange() Loop {
	return Loop{Model: result.Peer.Model("plain-range", "for i := range n, the item written out in it"),
		Run: func(n, _ int, b Body) { b.Range(0, n) }}
}

// PlainEach is a loop over a slice of indexes. Like par.Each it reads the
// slice, which counts where items are tiny and many.
func PlainEach() Loop {
	return Loop{Model: result.Peer.Model("plain-each", "for i := range s { f(&s[i]) }, over a slice"),
		Run: func(n, _ int, b Body) {
			s := indexes(n)
			for i := range s {
				b.Pointer(&s[i])
			}
		}}
}

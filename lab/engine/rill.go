package engine

import (
	"github.com/destel/rill"
	"github.com/stint-go/stint/lab/result"
)

// Rill is ForEach of destel/rill over a slice.
func Rill() Loop {
	return Loop{Model: result.Peer.Model("rill", "destel/rill v0.7.0, FromSlice and ForEach"),
		Run: func(n, limit int, b Body) {
			must(rill.ForEach(rill.FromSlice(indexes(n), nil), limitOrProcs(limit), func(i int) error {
				b.Plain(i)
				return nil
			}))
		}}
}

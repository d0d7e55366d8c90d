package engine

import (
	"github.com/destel/rill"
	"github.com/stint-go/stint/lab/result"
)

// Rill is ForEach of destel/rill over a slice.
func Rill() Loop {
	return Loop{Name: "rill", Doc: "destel/rill v0.7.0, FromSlice and ForEach", Kind: result.Peer,
		Run: func(n, limit int, b Body) {
			must(rill.ForEach(rill.FromSlice(indexes(n), nil), processors(limit), func(i int) error {
				b.Plain(i)
				return nil
			}))
		}}
}

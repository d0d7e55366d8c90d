package engine

import (
	"context"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/result"
)

// Range is stint.Range.
func Range() Loop {
	return Loop{Model: result.Ours.Model("stint.Range", "Range, with a Limit where there is one"), AdaptiveMax: 256,
		Run: func(n, limit int, b Body) {
			must(stint.Range(context.Background(), n, b.Task, bound(limit)...))
		}}
}

// Each is stint.Each over a slice of indexes.
func Each() Loop {
	return Loop{Model: result.Ours.Model("stint.Each", "Each over a slice, with a Limit where there is one"), AdaptiveMax: 256,
		Run: func(n, limit int, b Body) {
			must(stint.Each(context.Background(), indexes(n), b.Task, bound(limit)...))
		}}
}

func bound(limit int) []stint.Option {
	if limit == 0 {
		return nil
	}
	return []stint.Option{stint.Limit(limit)}
}

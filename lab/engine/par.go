package engine

import (
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// ParEach is par.Each over a slice of indexes.
func ParEach() Loop {
	return Loop{Name: "par.Each", Doc: "par.Each over a slice", Kind: result.Ours, Unlimited: true,
		Run: func(n, _ int, b Body) { par.Each(indexes(n), b.Pointer) }}
}

// ParRange is par.Range, which is given many indexes at a time.
func ParRange() Loop {
	return Loop{Name: "par.Range", Doc: "par.Range", Kind: result.Ours, Unlimited: true,
		Run: func(n, _ int, b Body) { par.Range(n, b.Span) }}
}

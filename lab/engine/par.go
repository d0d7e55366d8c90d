package engine

import (
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// ParEach is par.Each over a slice of indexes.
func ParEach() Loop {
	return Loop{Model: result.Ours.Model("par.Each", "par.Each over a slice"), Unlimited: true,
		Run: func(n, _ int, b Body) { par.Each(indexes(n), b.Pointer) }}
}

// ParRange is par.Range, whose body takes many indexes at a time.
func ParRange() Loop {
	return Loop{Model: result.Ours.Model("par.Range", "par.Range"), Unlimited: true,
		Run: func(n, _ int, b Body) { par.Range(n, b.Range) }}
}

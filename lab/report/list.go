package report

import "github.com/stint-go/stint/lab/result"

// named returns the result of an experiment, or an empty one.
func named(results []*result.Result, experiment string) *result.Result {
	for _, r := range results {
		if r.Experiment == experiment {
			return r
		}
	}
	return &result.Result{}
}

// A grouped holds the elements of a slice with the same key.
type grouped[T any] struct {
	key   string
	items []T
}

// groupBy groups elements by key, in order of first appearance.
func groupBy[T any](s []T, key func(T) string) []grouped[T] {
	var out []grouped[T]
	index := map[string]int{}
	for _, v := range s {
		k := key(v)
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, grouped[T]{key: k})
		}
		out[i].items = append(out[i].items, v)
	}
	return out
}

// unique removes duplicates, keeping the order.
func unique(s []string) []string {
	return each(groupBy(s, func(v string) string { return v }), func(g grouped[string]) string { return g.key })
}

// each applies a function to all elements.
func each[T, U any](s []T, text func(T) U) []U {
	var out []U
	for _, v := range s {
		out = append(out, text(v))
	}
	return out
}

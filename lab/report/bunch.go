package report

// A bunch is the elements of a slice that have the same key.
type bunch[T any] struct {
	key string
	of  []T
}

// bunches puts elements with the same key together, in the order in which the
// keys come.
func bunches[T any](s []T, key func(T) string) []bunch[T] {
	var out []bunch[T]
	place := map[string]int{}
	for _, v := range s {
		k := key(v)
		i, ok := place[k]
		if !ok {
			i = len(out)
			place[k] = i
			out = append(out, bunch[T]{key: k})
		}
		out[i].of = append(out[i].of, v)
	}
	return out
}

// each puts the elements of a slice into other words.
func each[T, U any](s []T, text func(T) U) []U {
	var out []U
	for _, v := range s {
		out = append(out, text(v))
	}
	return out
}

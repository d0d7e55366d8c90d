package lane

// A candidate is a task that may run, and its lane, a *lane[K, N] or nil.
type candidate[N any] struct {
	entry[N]
	in any
}

// A heap has the candidate with the smallest index first.
type heap[N any] []candidate[N]

func (h *heap[N]) push(p candidate[N]) {
	*h = append(*h, p)
	s, i := *h, len(*h)-1
	for i > 0 && p.index < s[(i-1)/2].index {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = p
}

// pop removes the first candidate.
func (h *heap[N]) pop() {
	n := len(*h) - 1
	p := (*h)[n]
	(*h)[n] = candidate[N]{}
	*h = (*h)[:n]
	if n > 0 {
		h.replace(p)
	}
}

// replace removes the first candidate, and adds p.
func (h heap[N]) replace(p candidate[N]) {
	i := 0
	for {
		c := 2*i + 1
		if c+1 < len(h) && h[c+1].index < h[c].index {
			c++
		}
		if c >= len(h) || p.index < h[c].index {
			h[i] = p
			return
		}
		h[i] = h[c]
		i = c
	}
}

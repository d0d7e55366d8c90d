package auto

import "testing"

func TestHistoryKeepsTheLast(t *testing.T) {
	for _, n := range []int{0, 1, remembered - 1, remembered, remembered + 1, 5*remembered + 7} {
		var h history
		for i := range n {
			h.add(Change{Limit: i})
		}
		all := h.all()
		if len(all) != min(n, remembered) {
			t.Errorf("%d changes of %d are kept", len(all), n)
		}
		for i, c := range all {
			if want := max(0, n-remembered) + i; c.Limit != want {
				t.Errorf("of %d changes number %d is %d, want %d", n, i, c.Limit, want)
			}
		}
		if len(all) > 0 {
			all[0].Limit = -1
			if h.all()[0].Limit == -1 {
				t.Error("the caller can change what is kept")
			}
		}
	}
}

package cluster

import (
	"fmt"
	"slices"
	"testing"
)

// Subjects that stay are on one of the pages, whatever comes and goes between two pages.
func TestPages(t *testing.T) {
	const size = 10
	name := func(i int) string { return fmt.Sprintf("%03d", i) }
	for what, change := range map[string]func(have []string, n int) []string{
		"nothing":        func(have []string, _ int) []string { return have },
		"some come":      func(have []string, n int) []string { return append(have, name(n)+"a") },
		"some go":        func(have []string, n int) []string { return slices.Delete(have, n%10, n%10+3) },
		"the last go":    func(have []string, _ int) []string { return have[:len(have)-5] },
		"all go":         func([]string, int) []string { return nil },
		"all but 5 go":   func(have []string, _ int) []string { return have[:min(5, len(have))] },
		"all but one go": func(have []string, _ int) []string { return have[len(have)-1:] },
	} {
		t.Run(what, func(t *testing.T) {
			var have []string
			for i := range 95 {
				have = append(have, name(i))
			}
			asked := 0
			all, err := joinPages(func(offset int) (map[string]uint64, int, error) {
				slices.Sort(have)
				part := map[string]uint64{}
				for _, s := range have[min(offset, len(have)):min(offset+size, len(have))] {
					part[s] = 1
				}
				if total := len(have); asked < 15 {
					asked++
					have = change(have, asked)
					return part, total, nil
				}
				return part, len(have), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range have {
				if len(s) == 3 && all[s] == 0 {
					t.Errorf("%s was missed", s)
				}
			}
		})
	}
}

package main

import (
	"fmt"
	"slices"
	"testing"
)

// TestWays wants the same pages in the same order of all ways.
func TestWays(t *testing.T) {
	s := serve()
	defer s.Close()
	var urls, want []string
	for i := range 30 {
		urls = append(urls, fmt.Sprint(s.URL, "/", i))
		want = append(want, fmt.Sprint("page of /", i))
	}
	for _, way := range ways {
		if pages, err := way.get(t.Context(), urls); err != nil || !slices.Equal(pages, want) {
			t.Errorf("%s: %v, %v", way.name, pages, err)
		}
		if _, err := way.get(t.Context(), append(urls, s.URL+"/no\n")); err == nil {
			t.Errorf("%s: no error for a bad address", way.name)
		}
	}
}

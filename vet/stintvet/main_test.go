package main

import (
	"slices"
	"strings"
	"testing"
)

func TestArticlesAreAdded(t *testing.T) {
	for given, want := range map[string]string{
		"./...":                        "-articles=false ./...",
		"-articles ./...":              "./...",
		"-json --articles=true a.cfg":  "-json a.cfg",
		"-articles=false ./...":        "-articles=false -articles=false ./...",
		"-taskgo ./...":                "-taskgo ./...",
		"-taskgo=true -articles ./...": "-taskgo=true -articles ./...",
		"-taskgo=false -articles a":    "-taskgo=false a",
		"help articles":                "help articles",
		"-flags":                       "-articles=false -flags",
	} {
		if got := arguments(strings.Fields(given)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("arguments(%q) = %q, want %q", given, got, want)
		}
	}
}

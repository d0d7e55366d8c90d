// Package articles reports nothing yet.
package articles

import "golang.org/x/tools/go/analysis"

// Analyzer reports nothing yet.
var Analyzer = &analysis.Analyzer{
	Name: "articles",
	Doc:  "reports nothing yet",
	Run:  func(*analysis.Pass) (any, error) { return nil, nil },
}

// Package before holds jobs written with other libraries, as Examples that are
// compiled and run. docs/coming-from.md shows each beside the same job with
// stint, from example_coming_test.go of the root module.
//
// Its tests check the page's other statements about these libraries, and that
// it covers all that they export.
package before

// Package before holds jobs as they are written with other libraries. They are
// Examples, so that they compile and print what they say. docs/coming-from.md
// shows each beside the same job with stint, which is in example_coming_test.go
// of the root module.
//
// Its tests hold what that page says of the other libraries and package
// features does not show, and that the page forgets nothing of what they export.
package before

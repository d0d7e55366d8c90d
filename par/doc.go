// Package par computes on all processors: loops over indexes and slices, and
// sorts. It is for pure computation: there is no context, no error, and nothing to
// choose; what waits, for a network or for each other, belongs to package stint.
package par

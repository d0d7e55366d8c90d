//go:build !race

package loop

// meetings are how often two sides meet at a moment that is to be hit.
const meetings = 100_000

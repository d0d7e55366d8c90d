//go:build race

package loop

// meetings are how often two sides meet at a moment that is to be hit. The race detector
// makes it longer, and each round slower.
const meetings = 10_000

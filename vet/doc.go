// Package vet is the module of stintvet, whose analyzers find traps in programs that use stint,
// and in programs that should. Each analyzer is a package below this one; the command is stintvet.
package vet

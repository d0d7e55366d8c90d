// Package vet is the module of stintvet. The analyzers of stintvet find traps in programs that
// use stint. With -articles they also find traps in programs that do not use it. Each analyzer
// is a package below this package. The command is package stintvet.
package vet

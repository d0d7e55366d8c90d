// Package house holds the rules of this repository as tests. It has no code
// of its own: everything is in its test files, and nothing imports it.
//
// A rule is a function from a tree of files to the violations it finds, each
// one line: where, what, and what to do about it. Every rule is run twice, by
// a test that bears its name: on a few trees of some lines that are right or
// wrong on purpose, so that a rule which can no longer fail is noticed, and on
// the repository itself.
//
// What a rule allows is a table at the top of its file, with the reason beside
// the entry. A decision that changes a table changes the code and the table in
// one commit.
//
//   - tree: how the repository is read, and how a rule is run
//   - modules: what go.mod files may say, and which may have a server; a licence in each
//   - edges: which package may import which
//   - comments: package comments, and comments on exported names
//   - births: where goroutines begin
//   - variables: importing a package starts nothing
//   - bans: no polling, nothing unsafe
//   - examples: every Example is checked, every function and type has one
//   - code: Go code in the README, ARCHITECTURE.md and docs is an Example or a declaration
//   - guarantees: the README lists them, with tests that exist
//   - links: relative links lead somewhere
//   - tables: those in Markdown files are shown as tables, with as many cells in each row
//   - map: every package is on the map in ARCHITECTURE.md
//   - names: of files and packages, and words that belong to one machine
package house

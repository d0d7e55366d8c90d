// Package house has the rules of this repository as tests.
//
// A rule is a function from a tree of files to the violations it finds. Each test runs its
// rule on samples, which show that the rule can fail, and on the repository. Exceptions are
// tables above the rule, with a reason for each entry. What vet and staticcheck check, with
// the checks of staticcheck.conf, is not checked here.
package house

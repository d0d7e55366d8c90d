// Command stintvet reports traps in programs that use stint:
//
//	go install github.com/stint-go/stint/vet/stintvet@latest
//	go vet -vettool=$(which stintvet) ./...
//
// With -articles it also reports the anti-patterns of five articles, in any program.
package main

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/stint-go/stint/vet/articles"
	"github.com/stint-go/stint/vet/lostwait"
	"github.com/stint-go/stint/vet/nestorder"
	"github.com/stint-go/stint/vet/taskctx"
	"github.com/stint-go/stint/vet/taskgo"
)

// analyzers are all but articles.Analyzer.
var analyzers = []*analysis.Analyzer{lostwait.Analyzer, nestorder.Analyzer, taskctx.Analyzer, taskgo.Analyzer}

func main() {
	os.Args = append(os.Args[:1], arguments(os.Args[1:])...)
	multichecker.Main(append(analyzers, articles.Analyzer)...)
}

// arguments returns the arguments for multichecker, to which a flag -NAME means only that analyzer,
// and no such flag means all. -articles alone means all, and without it there are no articles.
func arguments(args []string) []string {
	on := func(a *analysis.Analyzer) func(string) bool {
		return func(arg string) bool {
			name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			is, _ := strconv.ParseBool(value)
			return strings.HasPrefix(arg, "-") && name == a.Name && (is || !given)
		}
	}
	some := slices.ContainsFunc(analyzers, func(a *analysis.Analyzer) bool { return slices.ContainsFunc(args, on(a)) })
	switch {
	case some || len(args) > 0 && args[0] == "help":
		return args
	case slices.ContainsFunc(args, on(articles.Analyzer)):
		return slices.DeleteFunc(args, on(articles.Analyzer))
	}
	return append([]string{"-" + articles.Analyzer.Name + "=false"}, args...)
}

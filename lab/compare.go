package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/lab/report"
)

func newCompare() *cobra.Command {
	var c report.Comparison
	cmd := &cobra.Command{
		Use:   "compare [flags] A B",
		Short: "Compare two runs: directories of results, or single files",
		Long: `Compare shows two runs side by side with the statistics of benchstat: medians,
the widths of their 95 % intervals, and the change where the samples differ by
the Mann-Whitney U test with p at most 0.05, or, if one of the runs is a summary,
the intervals do not overlap. ~ means no significant difference. The runs were not interleaved, so changes of the machine between them show in the figures
too.`,
		Example: "  go run ./lab compare before after --changed\n  go run ./lab compare before/tiny.jsonl after/tiny.jsonl --unit allocs/op --models stint.Pool,stint.Group",
		Args:    cobra.ExactArgs(2),
	}
	f := cmd.Flags()
	f.StringVar(&c.Unit, "unit", "time/op", "compare this `UNIT`, named as in the tables")
	f.StringSliceVar(&c.Models, "models", nil, "compare only these `NAMES`")
	f.BoolVar(&c.Changed, "changed", false, "show only rows that differ, and count the others")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var errA, errB error
		c.A, errA = results(args[0])
		c.B, errB = results(args[1])
		if err := errors.Join(errA, errB); err != nil {
			return &failure{err}
		}
		var b strings.Builder
		fmt.Fprintf(&b, "A  %s\nB  %s\n\n", args[0], args[1])
		if err := c.Table(&b); err != nil {
			return err
		}
		_, err := fmt.Fprint(cmd.OutOrStdout(), b.String())
		return failed(err)
	}
	return cmd
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/report"
	"github.com/stint-go/stint/lab/result"
)

func newReport() *cobra.Command {
	var out, picture string
	var files []string
	cmd := &cobra.Command{
		Use:   "report [flags] DIR",
		Short: "Write the results in DIR as reports for readers and programs",
		Long: `Report reads the results in DIR and writes into the same directory report.html, a
self-contained page, report.md, with everything, and report.txt, in the benchmark
format, which summaries have no samples for. With --write it instead replaces the
text between the lines

    <!-- lab:begin -->
    <!-- lab:end -->

of a file with a summary, after <!-- lab:begin costs --> with the table of costs,
and after <!-- lab:begin comparison --> with some rows of the feature table, as in
BENCHMARKS.md and README.md. With --picture it writes some of these
costs as bars.`,
		Example: "  go run ./lab report out\n  go run ./lab report --picture docs/images/costs lab/results/2-core-epyc\n  go run ./lab report --write BENCHMARKS.md --write README.md lab/results/2-core-epyc",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&out, "out", "", "write into `DIR`, created if missing, instead of the directory of the results")
	cmd.Flags().StringArrayVar(&files, "write", nil, "replace the text between the laboratory's marks in `FILE`; may be repeated")
	cmd.Flags().StringVar(&picture, "picture", "", "write `NAME`-light.svg and NAME-dark.svg, a picture of costs, for light and dark pages")
	cmd.MarkFlagsMutuallyExclusive("out", "write", "picture")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		results, err := results(args[0])
		switch {
		case err != nil:
		case len(files) > 0:
			err = fill(cmd.OutOrStdout(), files, results, args[0])
		default:
			var names []string
			if picture != "" {
				names, err = report.Picture(picture, results, costs)
			} else {
				names, err = report.Write(cmp.Or(out, args[0]), results)
			}
			for _, name := range names {
				fmt.Fprintln(cmd.OutOrStdout(), name)
			}
		}
		return failed(err)
	}
	return cmd
}

func newSummarize() *cobra.Command {
	return &cobra.Command{
		Use:   "summarize DIR OUT",
		Short: "Write the results in DIR without their samples, to be kept",
		Long: `Summarize writes into the directory OUT, for each result in DIR, a file with the
verdicts, and for each row the median, its interval and the number of samples of
each unit, and the ratios to the case's reference and to its fastest peer, all
with 4 digits. Report and compare read both kinds; compare then compares the
intervals.`,
		Example: "  go run ./lab summarize out lab/results/8-core-ryzen",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			results, err := results(args[0])
			for _, r := range results {
				err = errors.Join(err, result.Save(args[1], r.Summarize()))
			}
			return failed(err)
		},
	}
}

// results reads the results of a directory, in the order of the experiments.
func results(dir string) ([]*result.Result, error) {
	var order []string
	for _, e := range experiments() {
		order = append(order, e.Name)
	}
	return result.Load(dir, order)
}

// fill replaces the marked parts of files and prints the names of the files.
func fill(stdout io.Writer, files []string, results []*result.Result, dir string) error {
	parts, err := parts(results, filepath.ToSlash(filepath.Clean(dir)))
	texts := make([]string, len(files))
	for i, file := range files { // read all before writing one
		old, e := os.ReadFile(file)
		if err = cmp.Or(err, e); err != nil {
			return err
		}
		if texts[i], err = report.Replace(string(old), parts); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	for i, file := range files {
		if err := os.WriteFile(file, []byte(texts[i]), 0o666); err != nil {
			return err
		}
		fmt.Fprintln(stdout, file)
	}
	return nil
}

// compared are the features in the README: those that people choose a library by.
var compared = []string{
	"Adaptive limit", "Limit", "Worker reuse", "Context", "First error cancels", "All errors", "Panics", "Nesting", "Bounded queue",
	"Typed results", "Ordered stream", "Batches", "Resizing", "Bubbles",
}

// parts returns the texts for marked parts by name: "" for the summary, costs and
// comparison.
func parts(results []*result.Result, dir string) (map[string]string, error) {
	table, err := features.All()
	if err != nil {
		return nil, err
	}
	var summary, cost, comparison strings.Builder
	err = errors.Join(report.Summary(&summary, results, table, dir), report.Costs(&cost, results, dir, costs),
		report.Features(&comparison, table.Only(compared, "workerpool"), dir))
	return map[string]string{"": summary.String(), "costs": cost.String(), "comparison": comparison.String()}, err
}

package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/lab/report"
)

func newReport() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:     "report [flags] DIR",
		Short:   "Write what a run has put into DIR as Markdown",
		Example: "  go run ./lab report results\n  go run ./lab report --write BENCHMARKS.md lab/results/2-core-epyc",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&file, "write", "", "replace what stands between the marks of the laboratory in `FILE`, instead of printing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := markdown(args[0])
		switch {
		case err != nil:
		case file != "":
			err = write(file, text)
		default:
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
		}
		if err != nil {
			return &failure{err}
		}
		return nil
	}
	return cmd
}

// markdown is the report of a directory of results.
func markdown(dir string) (string, error) {
	var order []string
	for _, e := range experiments() {
		order = append(order, e.Name())
	}
	results, err := report.Results(dir, order)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = report.Markdown(&b, results)
	return b.String(), err
}

// write puts a report between the marks of a file.
func write(file, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err = report.Replace(string(old), text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o666)
}

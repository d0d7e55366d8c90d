package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/stint-go/stint/lab/draw"
	"github.com/stint-go/stint/lab/report"
)

func reportCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	var page, picture string
	var write []string
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.StringVar(&page, "html", "", "write a page that needs no network into `file`")
	flags.StringVar(&picture, "picture", "", "write `name`-light.svg and name-dark.svg, the README's picture")
	flags.Func("write", "replace what the laboratory wrote in `file`, such as BENCHMARKS.md or README.md; may be repeated", func(s string) error {
		write = append(write, s)
		return nil
	})
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return &usageError{errors.New("report: want one directory of results")}
	}
	dir := filepath.Clean(flags.Arg(0))
	_, err := os.Stat(dir)
	if err != nil {
		return err
	}
	r := report.New(os.DirFS(dir), filepath.ToSlash(dir))
	save := func(name string) func(text string, err error) {
		return func(text string, err2 error) {
			switch {
			case err != nil:
			case err2 != nil:
				err = fmt.Errorf("%s: %w", cmp.Or(name, dir), err2)
			case name == "":
				_, err = io.WriteString(stdout, text)
			default:
				err = os.WriteFile(name, []byte(text), 0o666)
			}
		}
	}
	if page != "" {
		save(page)(r.Page())
	}
	if picture != "" {
		save(picture + "-light.svg")(r.Picture(draw.Light))
		save(picture + "-dark.svg")(r.Picture(draw.Dark))
	}
	for _, name := range write {
		save(name)(r.Replace(name))
	}
	if page == "" && picture == "" && write == nil {
		save("")(r.Markdown())
	}
	return err
}

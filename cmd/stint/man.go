package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newMan returns the hidden command that writes a manual page. Cobra's own generator
// would add three modules to this one.
func newMan(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "man [COMMAND]",
		Short:  "Write the manual page of a command to standard output",
		Hidden: true,
		Args:   cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("unknown command %q", rest[0])
			}
			if err != nil {
				return usage(cmd, err)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), manPage(about))
			return err
		},
	}
}

// manWidth is that of lines with options: a terminal has 80 columns, and man indents.
const manWidth = 72

// manPage returns the page of cmd in the man macros of roff. It has no date: the same
// binary always writes the same page.
func manPage(cmd *cobra.Command) string {
	var b, commands strings.Builder
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			fmt.Fprintf(&commands, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
		}
	}
	flags := cmd.LocalFlags()
	flags.VisitAll(func(f *pflag.Flag) { f.Hidden = false }) // those of other programs, too
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s\" \"User Commands\"\n", strings.ToUpper(roff(name)), roff(cmd.Root().Name()))
	for _, section := range [][2]string{
		{"NAME", fmt.Sprintf("%s \\- %s\n", roff(name), roff(cmd.Short))},
		{"SYNOPSIS", ".B " + roff(cmd.UseLine()) + "\n"},
		{"DESCRIPTION", strings.ReplaceAll(roff(cmd.Long), "\n\n", "\n.PP\n") + "\n"},
		{"COMMANDS", commands.String()},
		{"OPTIONS", verbatim(flags.FlagUsagesWrapped(manWidth))},
		{"EXIT STATUS", verbatim(cmd.Annotations[exitStatus])},
		{"EXAMPLES", verbatim(cmd.Example)},
	} {
		if section[1] != "" {
			b.WriteString(".SH " + section[0] + "\n" + section[1])
		}
	}
	return b.String()
}

// verbatim keeps the layout of text.
func verbatim(text string) string {
	if text == "" {
		return ""
	}
	return ".nf\n" + roff(strings.TrimSuffix(text, "\n")) + "\n.fi\n"
}

// roff escapes backslashes, hyphens, and lines that begin like a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	return regexp.MustCompile(`(?m)^[.']`).ReplaceAllString(s, `\&$0`)
}

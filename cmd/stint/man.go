package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// exitStatus is the annotation of a command that holds the text on its exit
// statuses.
const exitStatus = "exit status"

// newMan makes the hidden command that writes a manual page. Cobra's own
// generator is not used because it would add three modules to this one.
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
				return &usageError{cmd.CommandPath(), err.Error()}
			}
			_, err = io.WriteString(cmd.OutOrStdout(), manPage(about))
			return err
		},
	}
}

// manPage is the page of cmd in the man macros of roff. It holds no date, so
// that the same binary always writes the same page.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s\" \"User Commands\"\n", strings.ToUpper(roff(name)), roff(cmd.Root().Name()))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	for _, paragraph := range strings.Split(cmd.Long, "\n\n") {
		fmt.Fprintf(&b, "%s\n.PP\n", roff(paragraph))
	}
	section(&b, "COMMANDS", func() {
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
			}
		}
	})
	section(&b, "OPTIONS", func() { cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { manFlag(&b, f) }) })
	section(&b, "EXIT STATUS", func() { verbatim(&b, cmd.Annotations[exitStatus]) })
	section(&b, "EXAMPLES", func() { verbatim(&b, cmd.Example) })
	return b.String()
}

// section writes a heading if body writes anything under it.
func section(b *strings.Builder, title string, body func()) {
	before := b.String()
	b.WriteString(".SH " + title + "\n")
	start := b.Len()
	body()
	if b.Len() == start {
		b.Reset()
		b.WriteString(before)
	}
}

func manFlag(b *strings.Builder, f *pflag.Flag) {
	arg, usage := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n")
	if f.Shorthand != "" {
		fmt.Fprintf(b, "\\fB\\-%s\\fR, ", roff(f.Shorthand))
	}
	fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", roff(f.Name))
	if f.NoOptDefVal == "" {
		fmt.Fprintf(b, "=\\fI%s\\fR", roff(arg))
	}
	fmt.Fprintf(b, "\n%s", roff(usage))
	if f.NoOptDefVal == "" && f.DefValue != "" {
		fmt.Fprintf(b, " (default %s)", roff(f.DefValue))
	}
	b.WriteByte('\n')
}

// verbatim writes text as it is laid out.
func verbatim(b *strings.Builder, text string) {
	if text != "" {
		fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(text))
	}
}

// roff makes s safe: a backslash, a hyphen that is to stay one, and a line
// that begins like a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

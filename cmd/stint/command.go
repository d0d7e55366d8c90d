package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// exitStatus is the annotation of a command that describes its exit statuses.
const exitStatus = "exit status"

// help is the documentation of a command, for --help and the manual page.
type help struct {
	use, short, long, example, exit string
}

// command returns a command without operands.
func (h help) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:         h.use,
		Short:       h.short,
		Long:        h.long,
		Example:     h.example,
		Annotations: map[string]string{exitStatus: h.exit},
		Args:        cobra.NoArgs,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.SetHelpTemplate(cmd.HelpTemplate() + "\nExit status:\n" + h.exit + "\n")
	cmd.Flags().SortFlags = false
	return cmd
}

// usageError is an error of the command line.
type usageError struct {
	error
	command string
}

// usage makes err, which may be nil, an error of the command line.
func usage(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err, cmd.CommandPath()}
}

// refuse returns an error with the text of the first rule that is broken.
func refuse(rules ...rule) error {
	for _, r := range rules {
		if r.broken {
			return errors.New(r.text)
		}
	}
	return nil
}

type rule struct {
	broken bool
	text   string
}

// refuseEmpty refuses flags that are given and empty, as by an unset variable of a
// script.
func refuseEmpty(f *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if f.Changed(name) && f.Lookup(name).Value.String() == "" {
			return errors.New("the --" + name + " option needs a value")
		}
	}
	return nil
}

// complete makes the shell complete the value of a flag by values, not by file names.
func complete(cmd *cobra.Command, flag string, values ...string) {
	f := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag does not exist
	}
}

// refuseProgress refuses a value of --progress that is none.
func refuseProgress(when string) rule {
	isWhen := slices.Contains([]string{"auto", "always", "never"}, when)
	return rule{!isWhen, "invalid argument " + console.Quote(when) + " for --progress: want auto, always or never"}
}

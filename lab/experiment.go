package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/experiment/additions"
	"github.com/stint-go/stint/lab/experiment/auto"
	"github.com/stint-go/stint/lab/experiment/checksums"
	"github.com/stint-go/stint/lab/experiment/digests"
	"github.com/stint-go/stint/lab/experiment/documents"
	"github.com/stint-go/stint/lab/experiment/dropin"
	"github.com/stint-go/stint/lab/experiment/hops"
	"github.com/stint-go/stint/lab/experiment/loops"
	"github.com/stint-go/stint/lab/experiment/naps"
	"github.com/stint-go/stint/lab/experiment/powers"
	"github.com/stint-go/stint/lab/experiment/remote"
	"github.com/stint-go/stint/lab/experiment/scan"
	"github.com/stint-go/stint/lab/experiment/sleepers"
	"github.com/stint-go/stint/lab/experiment/sorts"
	"github.com/stint-go/stint/lab/experiment/sum"
	"github.com/stint-go/stint/lab/experiment/tiny"
)

// experiments are all there are, in the order in which they are listed and read.
func experiments() []experiment.Experiment {
	return []experiment.Experiment{
		powers.Experiment, naps.Experiment, additions.Experiment, sorts.Experiment, documents.Experiment,
		sleepers.Experiment, checksums.Experiment, digests.Experiment, scan.Experiment,
		tiny.Experiment, dropin.Experiment, loops.Experiment, auto.Experiment, hops.Experiment, remote.Experiment, sum.Experiment,
	}
}

// crowded are those that start so many goroutines at once that the runtime, which
// keeps what it has of ended ones, takes longer for the collection before each
// sample ever after. In a run of several these are the last.
var crowded = []string{"sha", "loops", "cpu", "sleepers"}

// choose returns the experiments with the given names, or all, in the order in which
// they are run.
func choose(names []string) ([]experiment.Experiment, error) {
	all := experiments()
	if len(names) == 0 {
		return ordered(all), nil
	}
	var known []string
	byName := map[string]experiment.Experiment{}
	for _, e := range all {
		known = append(known, e.Name)
		byName[e.Name] = e
	}
	var chosen []experiment.Experiment
	for i, name := range names {
		e, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("no experiment %q: there are %s", name, strings.Join(known, ", "))
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("experiment %s is named twice", name)
		}
		chosen = append(chosen, e)
	}
	return ordered(chosen), nil
}

// ordered puts those that are crowded last.
func ordered(all []experiment.Experiment) []experiment.Experiment {
	slices.SortStableFunc(all, func(a, b experiment.Experiment) int {
		return cmp.Compare(slices.Index(crowded, a.Name), slices.Index(crowded, b.Name))
	})
	return all
}

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/additions"
	"github.com/stint-go/stint/lab/auto"
	"github.com/stint-go/stint/lab/checksums"
	"github.com/stint-go/stint/lab/digests"
	"github.com/stint-go/stint/lab/documents"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/hops"
	"github.com/stint-go/stint/lab/loops"
	"github.com/stint-go/stint/lab/naps"
	"github.com/stint-go/stint/lab/powers"
	"github.com/stint-go/stint/lab/scan"
	"github.com/stint-go/stint/lab/sleepers"
	"github.com/stint-go/stint/lab/sorts"
	"github.com/stint-go/stint/lab/sum"
	"github.com/stint-go/stint/lab/tiny"
)

// experiments are all there are, in the order in which they are listed and run:
// those with many goroutines at once come last. The runtime keeps what belongs to a
// goroutine for the next one, and each collection looks at all of them, which is
// one before each sample.
func experiments() []experiment.Experiment {
	return []experiment.Experiment{
		sorts.Experiment{}, additions.Experiment{}, documents.Experiment{}, naps.Experiment{}, checksums.Experiment{},
		hops.Experiment{}, scan.Experiment{}, auto.Experiment{}, tiny.Experiment{}, digests.Experiment{}, loops.Experiment{},
		sum.Experiment{}, powers.Experiment{}, sleepers.Experiment{},
	}
}

// choose returns the experiments with the given names, in that order, or all.
func choose(names []string) ([]experiment.Experiment, error) {
	all := experiments()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	byName := map[string]experiment.Experiment{}
	for _, e := range all {
		known = append(known, e.Name())
		byName[e.Name()] = e
	}
	var chosen []experiment.Experiment
	for i, name := range names {
		e := byName[name]
		if e == nil {
			return nil, fmt.Errorf("no experiment %q: there are %s", name, strings.Join(known, ", "))
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("experiment %s is named twice", name)
		}
		chosen = append(chosen, e)
	}
	return chosen, nil
}

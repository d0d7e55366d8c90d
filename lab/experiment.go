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

// experiments are all there are, in the order in which they are listed and run. The
// last one leaves the memory of a million goroutines behind, which no other should
// be measured with: the runtime never gives it back, and each collection looks at it.
func experiments() []experiment.Experiment {
	return []experiment.Experiment{
		tiny.Experiment{}, loops.Experiment{}, sorts.Experiment{},
		powers.Experiment{}, naps.Experiment{}, additions.Experiment{}, documents.Experiment{}, digests.Experiment{}, checksums.Experiment{},
		auto.Experiment{}, hops.Experiment{}, scan.Experiment{}, sum.Experiment{}, sleepers.Experiment{},
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

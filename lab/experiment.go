package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/experiment/add"
	"github.com/stint-go/stint/lab/experiment/auto"
	"github.com/stint-go/stint/lab/experiment/cluster"
	"github.com/stint-go/stint/lab/experiment/cpu"
	"github.com/stint-go/stint/lab/experiment/errgroup"
	"github.com/stint-go/stint/lab/experiment/find"
	"github.com/stint-go/stint/lab/experiment/hops"
	"github.com/stint-go/stint/lab/experiment/io"
	"github.com/stint-go/stint/lab/experiment/load"
	"github.com/stint-go/stint/lab/experiment/loops"
	"github.com/stint-go/stint/lab/experiment/md5"
	stintrun "github.com/stint-go/stint/lab/experiment/run"
	"github.com/stint-go/stint/lab/experiment/scan"
	"github.com/stint-go/stint/lab/experiment/servers"
	"github.com/stint-go/stint/lab/experiment/sha"
	"github.com/stint-go/stint/lab/experiment/sleepers"
	"github.com/stint-go/stint/lab/experiment/sort"
	"github.com/stint-go/stint/lab/experiment/sum"
	"github.com/stint-go/stint/lab/experiment/tiny"
)

// experiments returns all experiments in the order of lists and reports.
func experiments() []experiment.Experiment {
	return []experiment.Experiment{
		cpu.Experiment, io.Experiment, add.Experiment, sort.Experiment, find.Experiment,
		sleepers.Experiment, md5.Experiment, sha.Experiment, load.Experiment, scan.Experiment,
		tiny.Experiment, errgroup.Experiment, loops.Experiment, auto.Experiment,
		hops.Experiment, servers.Experiment, cluster.Experiment, sum.Experiment, stintrun.Experiment,
	}
}

// manyGoroutines are the experiments that start so many goroutines that the
// runtime, which keeps the memory of ended ones, collects more slowly before
// every later sample. They run last.
var manyGoroutines = []string{"load", "sha", "loops", "cpu", "sleepers"}

// choose returns the named experiments, or all, in running order.
func choose(names []string) ([]experiment.Experiment, error) {
	var known []string
	var chosen []experiment.Experiment
	for _, e := range experiments() {
		known = append(known, e.Name)
		if len(names) == 0 || slices.Contains(names, e.Name) {
			chosen = append(chosen, e)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no experiment %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	slices.SortStableFunc(chosen, func(a, b experiment.Experiment) int {
		return slices.Index(manyGoroutines, a.Name) - slices.Index(manyGoroutines, b.Name)
	})
	return chosen, nil
}

package bench

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Order returns the models of a list in another order in each round of lab run, so that none is always the first, or
// behind the same one: -test.shuffle alone leaves sub-benchmarks as they are. The order depends on the number of that flag.
func Order[T any](list []T) []T {
	out := slices.Clone(list)
	if seed, err := strconv.ParseUint(flag.Lookup("test.shuffle").Value.String(), 10, 64); err == nil {
		// With this stream, each of two models is the first in about half of 6, 7, or 10 rounds.
		rand.New(rand.NewPCG(seed, 8)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

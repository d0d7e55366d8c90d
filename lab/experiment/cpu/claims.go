package cpu

import (
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// ours are the models of our claims.
var ours = []string{models.NameEach, models.NameMap, models.NameReduce}

// articleClaims returns the article's claims about many items: a channel
// operation costs more than an item.
func articleClaims(on experiment.Names) []result.Claim {
	const loop, pipe, fan, pieces = models.NameSequential, models.NamePipeline, models.NameFan, models.NameParallelize
	return slices.Concat(poolClaims(on),
		says("When items compute, a loop is faster than a pipeline and than a fan of goroutines.",
			models.Both(1, on, loop, pipe), models.Both(1, on, loop, fan)),
		says("When items compute, buffers make channels faster.",
			models.Both(1, on, models.NamePipelineBuffered, pipe), models.Both(1, on, models.NameFanBuffered, fan)),
		says("When items compute, one piece a processor is the fastest, on many processors only.",
			models.One(1.05, on, loop, pieces), models.All(1, on, pieces, loop), models.All(1, on, pieces, models.NamePipelineBuffered),
			models.All(1, on, pieces, models.NameFanBuffered), models.All(1, on, pieces, models.NamePoolMin), models.All(1, on, pieces, models.NamePool),
			models.All(1, on, pieces, models.NamePoolMax)),
		says("When items compute, a pipeline and a fan are slower on many processors than on one.",
			models.NoGain(1, on, pipe, fan)),
		says("When items compute, unbuffered channels cannot raise parallelism: a fan is no faster than a pipeline, nor on many processors than on one.",
			models.NoGain(1, on, fan), models.All(1, on, pipe, fan)),
		says("runtime.NumCPU does not follow GOMAXPROCS.", sameNumber(on, pieces)))
}

// sameNumber claims that a model has as many goroutines on one processor as on all.
func sameNumber(on experiment.Names, model string) []result.Claim {
	claims := models.NoGain(0, on, model)
	for i := range claims {
		claims[i].Unit, claims[i].Form = measure.Goroutines, result.Difference
	}
	return claims
}

// poolClaims returns the claims about pools, for many items and few.
func poolClaims(on experiment.Names) []result.Claim {
	const least, pool, most = models.NamePoolMin, models.NamePool, models.NamePoolMax
	return slices.Concat(
		says("When items compute, more workers make a pool slower.",
			models.Both(1, on, least, pool), models.Both(1, on, pool, most)),
		says("When items compute, a pool on one shared channel is slower on many processors than on one.",
			models.NoGain(1, on, least, pool, most)))
}

func says(conclusion string, claims ...[]result.Claim) []result.Claim {
	return models.Says(result.Pools, conclusion, claims...)
}

package cpu

import (
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// The conclusions of the article about items that compute.
const (
	loopWins   = "When items compute, a loop is faster than a pipeline and than a fan of goroutines."
	coresHurt  = "When items compute, a pipeline and a fan are slower on many processors than on one."
	unbuffered = "When items compute, unbuffered channels cannot make them run in parallel: a fan is no faster than a pipeline, and no faster on many processors than on one."
	bufferHelp = "When items compute, buffers make channels faster."
	piecesWin  = "When items compute, one piece a processor is the fastest, on many processors only."
	poolsHurt  = "When items compute, more workers make a pool slower."
	poolOnMany = "When items compute, a pool on one shared channel is slower on many processors than on one."
	numCPU     = "runtime.NumCPU does not follow GOMAXPROCS."
)

// ours are the models of our claims.
var ours = []string{models.NameEach, models.NameMap, models.NameReduce}

// articleClaims returns the article's claims about many items: a channel
// operation costs more than an item.
func articleClaims(on experiment.Names) []result.Claim {
	const loop, pipe, fan = models.NameSequential, models.NamePipeline, models.NameFan
	out := slices.Concat(poolClaims(on), on.Each(func(kase string) []result.Claim {
		return slices.Concat(
			concludes(loopWins, models.Faster(kase, loop, pipe), models.Faster(kase, loop, fan)),
			concludes(bufferHelp, models.Faster(kase, models.NamePipelineBuffered, pipe), models.Faster(kase, models.NameFanBuffered, fan)))
	}), concludes(piecesWin, experiment.AtMost(1.05, on.One, loop, models.NameParallelize, "")))
	if on.All == "" {
		return out
	}
	return slices.Concat(out,
		concludes(piecesWin, models.Faster(on.All, models.NameParallelize, loop), models.Faster(on.All, models.NameParallelize, result.BestPeer)),
		concludes(coresHurt, models.OneCPU(1, on, pipe, fan)...),
		concludes(unbuffered, append(models.OneCPU(1, on, fan), models.Faster(on.All, pipe, fan))...),
		concludes(numCPU, result.Claim{
			Case: on.All, Model: models.NameParallelize, Unit: measure.Goroutines, Form: result.Difference, Than: models.NameParallelize, InCase: on.One,
		}))
}

// longClaims adds ours.
func longClaims(on experiment.Names) []result.Claim {
	return append(articleClaims(on), models.Unhinted(on, ours...)...)
}

// shortClaims returns the claims about few items.
func shortClaims(on experiment.Names) []result.Claim {
	return append(poolClaims(on), models.SmallList(on, ours...)...)
}

// poolClaims returns the claims about pools.
func poolClaims(on experiment.Names) []result.Claim {
	const least, pool, most = models.NamePoolMin, models.NamePool, models.NamePoolMax
	return append(on.Each(func(kase string) []result.Claim {
		return concludes(poolsHurt, models.Faster(kase, least, pool), models.Faster(kase, pool, most))
	}), concludes(poolOnMany, models.OneCPU(1, on, least, pool, most)...)...)
}

func concludes(conclusion string, claims ...result.Claim) []result.Claim {
	return experiment.Concludes(result.Pools, conclusion, claims...)
}

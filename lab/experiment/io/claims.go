package io

import (
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
)

// The conclusions of the article about items that wait, and ours.
const (
	bufferIdle = "When items wait, buffers do not make channels faster."
	fanWins    = "When items wait, a fan of goroutines is faster than one piece a processor."
	coresIdle  = "When items wait, more processors do not help."
	poolOnMany = "When items wait, a pool on one shared channel gains nothing from more processors."
	poolsHelp  = "When items wait, more workers make a pool faster."
	evenWins   = "That a fan is faster than one piece a processor when items wait is due to the remainder in the last piece: cut evenly, the pieces are faster than the fan."
)

// claims returns the article's claims about items that wait: only the number of
// concurrent items matters, not buffers or processors.
func claims(on experiment.Names) []result.Claim {
	const pipe, fan = models.NamePipeline, models.NameFan
	return slices.Concat(of(on), on.Each(func(kase string) []result.Claim {
		return concludes(bufferIdle, experiment.AtMost(1.05, kase, pipe, models.NamePipelineBuffered, ""))
	}),
		concludes(coresIdle, models.OneCPU(1.05, on, models.NameSequential, pipe)...),
		models.Unhinted(on, models.NameEach, models.NameMap))
}

// authorsClaims are also about the cut, on the author's machine.
func authorsClaims(on experiment.Names) []result.Claim {
	return slices.Concat(of(on), unhinted(on), on.Each(func(kase string) []result.Claim {
		return experiment.Concludes("", evenWins, models.Faster(kase, models.NameBalanced, models.NameFan), models.Faster(kase, models.NameFan, models.NameParallelize))
	}))
}

// of returns the claims about the models that the shape matters for.
func of(on experiment.Names) []result.Claim {
	const fan, least, pool, most = models.NameFan, models.NamePoolMin, models.NamePool, models.NamePoolMax
	return slices.Concat(on.Each(func(kase string) []result.Claim {
		return slices.Concat(
			concludes(bufferIdle, experiment.AtMost(1.05, kase, fan, models.NameFanBuffered, "")),
			concludes(fanWins, models.Faster(kase, fan, models.NameParallelize)),
			concludes(poolsHelp, models.Faster(kase, pool, least), models.Faster(kase, most, pool)))
	}),
		concludes(coresIdle, models.OneCPU(1.05, on, fan, models.NameParallelize)...),
		concludes(poolOnMany, models.OneCPU(1.05, on, least, pool, most)...))
}

func unhinted(on experiment.Names) []result.Claim { return models.Unhinted(on, models.NameEach) }

func concludes(conclusion string, claims ...result.Claim) []result.Claim {
	return experiment.Concludes(result.Pools, conclusion, claims...)
}

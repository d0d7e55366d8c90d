package sum

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// algorithms are the cases of the workload.
var algorithms = []string{"sha256", "md5"}

// The models. The others are compared with the first.
const (
	gnu         = "gnu"
	gnuParallel = "gnu-parallel"
	stint       = "stint"
)

// Our conclusions.
const (
	faster     = "On two processors stint sum is faster than the GNU tools, one file after the other, and its lines are in order."
	fasterThan = "On two processors stint sum is faster than two concurrent GNU tools, whose lines are in any order."
)

// claims are about the full tree on two processors.
var claims = []result.Claim{
	{Case: "alg=sha256", Model: stint, Unit: measure.Time, Form: result.Speedup, Than: gnu, Bar: 4, Conclusion: faster},
	{Case: "alg=md5", Model: stint, Unit: measure.Time, Form: result.Speedup, Than: gnu, Bar: 1.85, Conclusion: faster},
	{Case: "alg=sha256", Model: stint, Unit: measure.Time, Form: result.Speedup, Than: gnuParallel, Bar: 1, Conclusion: fasterThan},
	{Case: "alg=md5", Model: stint, Unit: measure.Time, Form: result.Speedup, Than: gnuParallel, Bar: 1, Conclusion: fasterThan},
}

// A model prints the digests of all files in the working directory.
type model struct {
	name    string
	ordered bool // the lines are in the order of the paths
	args    func(alg string) []string
}

// models returns the three models. The GNU models also find and sort the files,
// as stint does.
func models(stintPath string, processors int) []model {
	pipe := func(xargs string) func(alg string) []string {
		return func(alg string) []string {
			return []string{"sh", "-c", "find . -type f -print0 | sort -z | " + xargs + " " + alg + "sum"}
		}
	}
	return []model{
		{gnu, true, pipe("xargs -0")},
		{gnuParallel, false, pipe(fmt.Sprintf("xargs -0 -P %d -n 64", processors))},
		{stint, true, func(alg string) []string { return []string{stintPath, "sum", "-a", alg, "."} }},
	}
}

// describe returns the model with its command line.
func (m model) describe(processors int) result.Model {
	command, kind := strings.Join(m.args("ALG"), " "), result.Peer
	if m.name == stint {
		kind = result.Ours
		command = "GOMAXPROCS=" + strconv.Itoa(processors) + " stint sum -a ALG ."
	} else {
		command = strings.TrimPrefix(command, "sh -c ")
	}
	if !m.ordered {
		command += " (its lines come in any order)"
	}
	return result.Model{Name: m.name, Kind: kind, Doc: command}
}

// process returns a run of the model in dir.
func (m model) process(alg, dir string, processors int) measure.Process {
	return measure.Process{
		Args: m.args(alg),
		Dir:  dir,
		Env:  []string{"LC_ALL=C", "GOMAXPROCS=" + strconv.Itoa(processors)},
	}
}

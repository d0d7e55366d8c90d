package report

import (
	"cmp"
	"maps"
	"regexp"
	"slices"

	"github.com/stint-go/stint/lab/claims"
)

// model is the part of a benchmark's name that says who does the work, and isOurs that part of ours.
var (
	model  = regexp.MustCompile(`(model|way|tool)=([^/]+)`)
	isOurs = regexp.MustCompile(`(model|way|tool)=(stint|par|stream|cluster|httplimit)\b`)
)

// others returns the tasks for which one of the others is certainly faster than all of ours, by 5 %, on all CPUs.
func (r *Report) others() string {
	g := grid{{"task, on all CPUs", "fastest", "ours", "ours takes; all of the interval is above 1.05"}}
	done := map[string]bool{}
	for _, a := range claims.Articles {
		for _, t := range append(slices.Clone(a.Tables), claims.Table{}) {
			in, filter := cmp.Or(t.In, a.In), cmp.Or(t.Filter, a.Filter)
			if !done[in+filter] {
				g = append(g, behind(r.read(a, in, filter))...)
			}
			done[in+filter] = true
		}
	}
	return cmp.Or(g.String(), "\nNone.\n")
}

// behind returns such tasks of a directory of benchmarks.
func behind(here claims.Results) (rows grid) {
	tasks := map[bool]map[string][]string{true: {}, false: {}} // ours and others, by what the names have beside the model
	for _, name := range here.Names("*") {
		ours := isOurs.MatchString(name)
		if task := model.ReplaceAllString(name, ""); task != name {
			tasks[ours][task] = append(tasks[ours][task], name)
		}
	}
	who := func(name string) string { return model.FindStringSubmatch(name)[2] }
	for _, task := range slices.Sorted(maps.Keys(tasks[true])) {
		best, our := here.Least(tasks[false][task], true, claims.Time), here.Least(tasks[true][task], true, claims.Time)
		c := claims.Claim{Bar: claims.AtLeast(1.05), Pairs: claims.OnAll(best, our)}
		if x := c.Judge(here); best != "" && x.Verdict == claims.Holds {
			rows = append(rows, []string{claims.Task(task), who(best), who(our), claims.Ratio(x.Figure)})
		}
	}
	return rows
}

package report

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/stint-go/stint/lab/claims"
)

// model is the part of a benchmark's name that says who does the work, and isOurs matches our names for it.
var (
	model  = regexp.MustCompile(`(model|way|tool)=([^/]+)`)
	isOurs = regexp.MustCompile(`^(stint|par|stream|cluster|httplimit)\b`)
)

// ours reports whether a benchmark is of ours.
func ours(name string) bool {
	m := model.FindStringSubmatch(name)
	return m != nil && isOurs.MatchString(m[2])
}

// others writes the tasks for which one of the others is certainly faster than all of ours, by 5 %, on all CPUs.
func (r *Report) others() (string, error) {
	var w strings.Builder
	w.WriteString("## Where others are faster\n")
	grid := [][]string{{"task, on all CPUs", "fastest", "ours", "ours takes; all of the interval is above 1.05"}}
	done := map[string]bool{}
	for _, a := range claims.Articles {
		for _, t := range append(slices.Clone(a.Tables), claims.Table{}) {
			in, filter := cmp.Or(t.In, a.In), cmp.Or(t.Filter, a.Filter)
			if done[in+filter] {
				continue
			}
			done[in+filter] = true
			here, err := r.read(in, filter)
			if err != nil {
				return "", err
			}
			for _, row := range behind(here) {
				row[0] = in + ": " + row[0]
				if filter != "" {
					row[0] += " (" + filter + ")"
				}
				grid = append(grid, row)
			}
		}
	}
	if len(grid) == 1 {
		w.WriteString("\nNone.\n")
	}
	writeGrid(&w, grid)
	return w.String() + "\n", nil
}

// behind returns rows of results of a directory of benchmarks.
func behind(here claims.Results) (rows [][]string) {
	best := map[string][2]string{} // others' and ours, by what the names have beside the model
	for _, name := range here.Names("*") {
		task, side := model.ReplaceAllString(name, ""), 0
		if ours(name) {
			side = 1
		}
		pair, f := best[task], here.Median(name, true, claims.Time)
		if f.Rounds > 0 && task != name && (pair[side] == "" || f.Center < here.Median(pair[side], true, claims.Time).Center) {
			pair[side] = name
			best[task] = pair
		}
	}
	for _, task := range slices.Sorted(maps.Keys(best)) {
		if best[task][0] == "" || best[task][1] == "" {
			continue
		}
		c := claims.Claim{Bar: claims.AtLeast(1.05), Pairs: claims.OnAll(best[task][0], best[task][1])}
		if x := c.Judge(here); x.Verdict == claims.Holds {
			who := func(name string) string { return model.FindStringSubmatch(name)[2] }
			rows = append(rows, []string{strings.Trim(task, "/"), who(best[task][0]), who(best[task][1]), claims.Ratio(x.Figure)})
		}
	}
	return rows
}

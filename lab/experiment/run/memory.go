package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// fits is our conclusion about memory.
const fits = "Without -j, no more jobs run than memory has room for, none is killed, and they take little longer than with the best -j that survives."

// memory runs jobs that need much memory.
func (l *lab) memory(ctx context.Context) (experiment.Study, error) {
	name := fmt.Sprintf("memory=%s/jobs=%d", megabytes(l.hold), l.holders)
	if !l.SelectsCase(name) {
		return experiment.Study{}, nil
	}
	h, err := l.newRoom()
	if err != nil {
		return experiment.Study{}, skipped{fmt.Errorf("%s is skipped: %w", name, err)}
	}
	it, err := l.newItems(name, l.holders, numbered)
	b := batch{command: []string{l.job, "-memory", fmt.Sprint(l.hold), "-wait", l.holding.String()}, items: it, flags: []string{flagJSON}}
	most := int(l.room / l.hold)
	var models []experiment.Model
	for _, t := range append([]tool{l.ours(0)}, l.sweep(l.fewer(2, most-2, most-1, most)...)...) {
		models = append(models, experiment.Model{Model: t.Model, Run: func(m *measure.Meter) error { return h.measure(ctx, m, t, b) }})
	}
	c := l.kase(name, fmt.Sprintf("%d jobs that hold %s for %v; %s", l.holders, megabytes(l.hold), l.holding, h), models...)
	return experiment.One(c,
		atMost(0, measure.Failures, name, fits),
		experiment.AtMost(1.2, name, nameOurs, result.BestSwept, fits)), err
}

// A room is the memory that jobs may use together.
type room struct {
	*lab
	grouped bool // it is that of a cgroup; otherwise what --memfree leaves
}

func (h room) String() string {
	if h.grouped {
		return "all are in a cgroup of " + megabytes(h.room)
	}
	return "stint-run has a --memfree that leaves " + megabytes(h.room)
}

// newRoom returns a room, which is that of a cgroup if this process may make one.
func (l *lab) newRoom() (room, error) {
	h := room{lab: l}
	if runtime.GOOS != "linux" {
		return h, errors.New("stint run --memfree works on Linux only")
	}
	free, err := available()
	if err == nil && free < l.room+l.room/2 {
		err = fmt.Errorf("%s are available, want %s and half as much again", megabytes(free), megabytes(l.room))
	}
	if err == nil && !l.Listing() {
		if dir, err := makeGroup(l.room); err == nil {
			h.grouped = true
			removeGroup(dir)
		}
	}
	return h, err
}

// available returns how much memory the machine has for new processes.
func available() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nMemAvailable:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(kb, 10, 64)
	return n << 10, err
}

// groups are where the versions of cgroups have the limit of memory, and that of swap.
var groups = []struct{ root, limit, swap string }{
	{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
	{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
}

// makeGroup makes a cgroup with a limit.
func makeGroup(limit int64) (dir string, err error) {
	for _, g := range groups {
		dir, err = os.MkdirTemp(g.root, "stint-lab-")
		if err != nil {
			continue
		}
		swap := int64(0)
		if strings.Contains(g.swap, "memsw") {
			swap = limit // of both
		}
		if err = os.WriteFile(filepath.Join(dir, g.limit), []byte(fmt.Sprint(limit)), 0); err == nil {
			_ = os.WriteFile(filepath.Join(dir, g.swap), []byte(fmt.Sprint(swap)), 0) // not everywhere
			return dir, nil
		}
		_ = os.Remove(dir)
	}
	return "", err
}

// removeGroup removes a cgroup, in which the last processes may be ending.
func removeGroup(dir string) {
	for range 100 {
		if os.Remove(dir) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// enter is a script that runs the command of its operands in a cgroup. It succeeds if jobs
// were killed, which the report of the command tells.
const enter = `[ -z "$0" ] || echo $$ >"$0/cgroup.procs" && "$@"; [ $? -le 1 ]`

// measure runs a tool in the room.
func (h room) measure(ctx context.Context, m *measure.Meter, t tool, b batch) error {
	group := ""
	if h.grouped {
		var err error
		if group, err = makeGroup(h.room); err != nil {
			return err
		}
		defer removeGroup(group)
	} else if t.Kind == result.Ours {
		free, err := available()
		if err != nil {
			return err
		}
		b.flags = append([]string{"--memfree", fmt.Sprint(free - h.room)}, b.flags...)
	}
	p := h.process(t, b)
	p.Args = append([]string{"sh", "-c", enter, group}, p.Args...)
	return h.lab.measure(ctx, m, p, func(m *measure.Meter, output string) error {
		r, err := readReport(output)
		if err != nil {
			return err
		}
		m.Report(measure.AtOnce, float64(r.atOnce))
		m.Report(measure.Failures, float64(h.holders-r.Succeeded))
		return nil
	})
}

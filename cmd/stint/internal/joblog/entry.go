package joblog

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// Entry is a job that has ended.
type Entry struct {
	Seq     int64         // number of the job, from 1
	Host    string        // where it ran; "" is this machine, which the log calls ":"
	Start   time.Time     // the log keeps milliseconds
	Runtime time.Duration // the log keeps milliseconds
	Send    int64         // bytes of input
	Receive int64         // bytes of output
	Exit    int           // exit status; -1 if the runner killed the job
	Signal  int           // signal that ended the job, 0 for none
	Command string        // a newline in it is logged as a NUL, as GNU parallel does
}

// header is the first line of a log, without its newline.
const header = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand"

var columns = strings.Split(header, "\t")

// appendTo appends the line of e. The host, which another machine has named, is made visible.
// Times are cut to milliseconds, as GNU parallel does.
func (e *Entry) appendTo(line []byte) []byte {
	return fmt.Appendf(line, "%d\t%s\t%.3f\t%10.3f\t%d\t%d\t%d\t%d\t%s\n",
		e.Seq, console.Visible(cmp.Or(e.Host, ":")), seconds(e.Start.UnixMilli()), seconds(e.Runtime.Milliseconds()),
		e.Send, e.Receive, e.Exit, e.Signal, logged(e.Command))
}

func seconds(milliseconds int64) float64 { return float64(milliseconds) / 1e3 }

// logged returns a command as the log has it, which is one line.
func logged(command string) string { return strings.ReplaceAll(command, "\n", "\x00") }

// parse returns what a line without its newline says: whether the job succeeded, and its
// command, which is a part of the line.
func parse(line []byte) (success bool, command []byte, err error) {
	field := bytes.SplitN(line, []byte("\t"), len(columns))
	last := len(columns) - 1
	if len(field) <= last {
		return false, nil, fmt.Errorf("%d of %d columns", len(field), len(columns))
	}
	for i, text := range field[:last] {
		_, err := strconv.ParseFloat(string(bytes.TrimLeft(text, " ")), 64)
		if err != nil && columns[i] != "Host" {
			return false, nil, fmt.Errorf("%s is not a number: %.40q", columns[i], text)
		}
	}
	return string(field[6]) == "0" && string(field[7]) == "0", field[last], nil
}

package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// streams are the standard streams of a process: those of the process itself, and our ends
// of the pipes.
//
// Output stays in the pipes for copyDelay, and is then copied as it comes. A process that ends
// before has its output copied at its end: so the runtime need not wait for the pipes, which
// would wake it up twice while another process may need the CPU.
type streams struct {
	childs []*os.File
	opened []*os.File // of childs, those to close when the process has them

	input   *os.File // nil: there is no pipe
	data    []byte   // for input
	outputs []output
	timer   *time.Timer    // of copyDelay
	wg      sync.WaitGroup // of the goroutines that copy

	mu      sync.Mutex
	copying bool // copyDelay is over
	ended   bool // the process has ended
}

const copyDelay = 2 * time.Millisecond

// output is our end of a pipe, and where the output goes.
type output struct {
	pipe
	w io.Writer
}

// open opens the streams of c.
func (e *Engine) open(c *Command) (*streams, error) {
	s := &streams{childs: []*os.File{e.null, os.Stdout, os.Stderr}, data: c.Stdin}
	if c.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		s.childs[0], s.input, s.opened = r, w, append(s.opened, r)
	}
	for i, w := range []io.Writer{c.Stdout, c.Stderr} {
		if w == nil {
			continue
		}
		r, child, err := newPipe()
		if err != nil {
			s.closeChilds()
			s.close()
			return nil, err
		}
		s.childs[1+i], s.opened = child, append(s.opened, child)
		s.outputs = append(s.outputs, output{r, w})
	}
	return s, nil
}

// closeChilds closes the ends of the process.
func (s *streams) closeChilds() {
	for _, f := range s.opened {
		f.Close()
	}
}

// close closes our ends.
func (s *streams) close() {
	if s.input != nil {
		s.input.Close()
	}
	for _, o := range s.outputs {
		o.pipe.close()
	}
}

// copy starts to copy. A process may leave its input unread: that is no error.
func (s *streams) copy() {
	if s.input != nil {
		s.wg.Go(func() {
			_, _ = s.input.Write(s.data)
			s.input.Close()
		})
	}
	switch {
	case len(s.outputs) == 0:
	case s.outputs[0].f != nil: // what is in the pipe cannot be asked for here
		s.copyOutputs()
	default:
		s.timer = time.AfterFunc(copyDelay, s.copyOutputs)
	}
}

// copyOutputs starts to copy the outputs, unless the process has ended.
func (s *streams) copyOutputs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.copying = true
	for i := range s.outputs {
		o := &s.outputs[i]
		o.open()
		s.wg.Go(o.copy)
	}
}

// end returns whether the outputs are being copied. If not, copyOutputs does nothing from now on.
func (s *streams) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.copying
}

// drain returns when all that the group has written is copied, and data is not used any more.
// Processes that have left the group may still have the pipes: they are not waited for.
func (s *streams) drain() {
	if s.input != nil {
		s.input.Close() // ends a Write that nobody reads
	}
	if copying := s.end(); copying {
		for _, o := range s.outputs {
			_ = o.f.SetReadDeadline(time.Unix(1, 0))
		}
	} else if s.timer != nil {
		s.timer.Stop()
		for _, o := range s.outputs {
			o.copyFrom(rest(o.pipe))
		}
	}
	s.wg.Wait()
}

// buffers are for reading. A process has one for each output, so they are small; they grow
// with what a process writes.
var buffers = sync.Pool{New: func() any { b := make([]byte, smallBuffer); return &b }}

const (
	smallBuffer = 4 << 10
	largeBuffer = 64 << 10 // as much as a pipe holds
	maxPipe     = 1 << 20  // as much as one may hold, unless root has made it larger
)

// copy copies until the end of the output, or until the read deadline and then what is there.
func (o *output) copy() {
	o.copyFrom(o.f.Read)
}

// copyFrom copies what read returns, and closes the pipe.
func (o *output) copyFrom(read func([]byte) (int, error)) {
	defer o.close()
	small := buffers.Get().(*[]byte)
	defer buffers.Put(small)
	for b := *small; ; {
		n, err := read(b)
		if n > 0 {
			if _, failed := o.w.Write(b[:n]); failed != nil {
				return
			}
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			read = rest(o.pipe)
		case err != nil:
			return
		case n == len(b) && n < largeBuffer:
			b = make([]byte, largeBuffer)
		}
	}
}

// rest returns a function that reads what is in a pipe, and no more: processes that have left
// the group may write on and on.
func rest(p pipe) func([]byte) (int, error) {
	left := maxPipe
	return func(b []byte) (int, error) {
		if left == 0 {
			return 0, io.EOF
		}
		n, err := p.readAvailable(b[:min(len(b), left)])
		left -= n
		return n, err
	}
}

package output

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

// A ResultFiles is the files of --results of a job. nil: there are none.
type ResultFiles struct {
	dir            string
	stdout, stderr resultFile
}

// Save makes the output of an attempt go to the files of --results, too.
func (p *Printer) Save(j *Job, c *process.Command) (*ResultFiles, error) {
	f, err := p.openResults(j)
	if f != nil {
		f.stdout.before(&c.Stdout, os.Stdout)
		f.stderr.before(&c.Stderr, os.Stderr)
	}
	return f, err
}

// openResults makes the files of j, if --results is given.
func (p *Printer) openResults(j *Job) (*ResultFiles, error) {
	if p.o.Results == "" {
		return nil, nil
	}
	f := &ResultFiles{dir: filepath.Join(p.o.Results, strconv.FormatInt(j.Seq, 10))}
	err := os.MkdirAll(f.dir, 0o777)
	if err == nil {
		f.stdout.f, err = os.Create(filepath.Join(f.dir, "stdout"))
	}
	if err == nil {
		f.stderr.f, err = os.Create(filepath.Join(f.dir, "stderr"))
	}
	if err != nil {
		_ = f.stdout.f.Close() // perhaps nil
		return nil, err
	}
	return f, nil
}

// SaveKept writes the files of --results of a job that has ended on a worker.
func (p *Printer) SaveKept(j *Job) error {
	f, err := p.openResults(j)
	if f == nil {
		return ResultError(err)
	}
	_, f.stdout.err = io.Copy(f.stdout.f, j.Stdout.Reader())
	_, f.stderr.err = io.Copy(f.stderr.f, j.Stderr.Reader())
	if err = f.Close(); err == nil {
		err = f.WriteStatus(j)
	}
	return ResultError(err)
}

// Close closes the files.
func (f *ResultFiles) Close() error {
	return cmp.Or(f.stdout.err, f.stderr.err, f.stdout.f.Close(), f.stderr.f.Close())
}

// WriteStatus writes the file that has the exit status of j.
func (f *ResultFiles) WriteStatus(j *Job) error {
	return os.WriteFile(filepath.Join(f.dir, "status"), []byte(strconv.Itoa(j.Status())+"\n"), 0o666)
}

// ResultError returns an error of these files as that of a job.
func ResultError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New("--results: " + console.Reason(err))
}

// A resultFile is one of these files. After an error the output goes on without it.
type resultFile struct {
	f    *os.File
	next io.Writer
	err  error
}

// before puts f before *w, or before ours if *w is nil.
func (f *resultFile) before(w *io.Writer, ours io.Writer) {
	if f.next = *w; f.next == nil {
		f.next = ours
	}
	*w = f
}

func (f *resultFile) Write(b []byte) (int, error) {
	if f.err == nil {
		_, f.err = f.f.Write(b)
	}
	return f.next.Write(b)
}

package run

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

// A resultFiles is the files of --results of a job. nil: there are none.
type resultFiles struct {
	dir            string
	stdout, stderr *resultFile
}

// save makes the output of an attempt go to the files of --results, too.
func (x *executor) save(j *job, c *process.Command) (*resultFiles, error) {
	if x.o.Results == "" {
		return nil, nil
	}
	dir := filepath.Join(x.o.Results, strconv.FormatInt(j.seq, 10))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	stdout, err := os.Create(filepath.Join(dir, "stdout"))
	if err != nil {
		return nil, err
	}
	stderr, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		return nil, errors.Join(err, stdout.Close())
	}
	return &resultFiles{dir, resultBefore(&c.Stdout, os.Stdout, stdout), resultBefore(&c.Stderr, os.Stderr, stderr)}, nil
}

// close closes the files.
func (f *resultFiles) close() error {
	return cmp.Or(f.stdout.err, f.stderr.err, f.stdout.f.Close(), f.stderr.f.Close())
}

// writeStatus writes the file that has the exit status of j.
func writeStatus(dir string, j *job) error {
	return os.WriteFile(filepath.Join(dir, "status"), []byte(strconv.Itoa(j.status())+"\n"), 0o666)
}

func resultError(err error) error {
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

// resultBefore puts f before *w, or before ours if *w is nil.
func resultBefore(w *io.Writer, ours io.Writer, f *os.File) *resultFile {
	file := &resultFile{f: f, next: *w}
	if file.next == nil {
		file.next = ours
	}
	*w = file
	return file
}

func (f *resultFile) Write(b []byte) (int, error) {
	if f.err == nil {
		_, f.err = f.f.Write(b)
	}
	return f.next.Write(b)
}

// saveResults writes the files of --results of a job that has ended on a worker.
func saveResults(results string, j *job) error {
	dir := filepath.Join(results, strconv.FormatInt(j.seq, 10))
	err := os.MkdirAll(dir, 0o777)
	for name, s := range map[string]*stream{"stdout": j.stdout, "stderr": j.stderr} {
		if err == nil {
			err = copyResult(filepath.Join(dir, name), s)
		}
	}
	if err == nil {
		err = writeStatus(dir, j)
	}
	return resultError(err)
}

func copyResult(path string, s *stream) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, s.buffer.Reader())
	return cmp.Or(err, f.Close())
}

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
	f := &resultFiles{dir: filepath.Join(x.o.Results, strconv.FormatInt(j.seq, 10))}
	err := os.MkdirAll(f.dir, 0o777)
	if err == nil {
		f.stdout, err = createResult(f.dir, "stdout", &c.Stdout, os.Stdout)
	}
	if err == nil {
		f.stderr, err = createResult(f.dir, "stderr", &c.Stderr, os.Stderr)
	}
	if err != nil {
		return f, errors.Join(resultError(err), f.close(nil))
	}
	return f, nil
}

// close writes the status of j, unless j is nil, and closes the files.
func (f *resultFiles) close(j *job) error {
	if f == nil {
		return nil
	}
	var err error
	for _, file := range []*resultFile{f.stdout, f.stderr} {
		if file != nil {
			err = cmp.Or(err, file.err, file.f.Close())
		}
	}
	if j != nil && err == nil {
		err = os.WriteFile(filepath.Join(f.dir, "status"), []byte(strconv.Itoa(j.status())+"\n"), 0o666)
	}
	if err != nil {
		return resultError(err)
	}
	return nil
}

func resultError(err error) error { return errors.New("--results: " + console.Reason(err)) }

// A resultFile is one of these files. After an error the output goes on without it.
type resultFile struct {
	f    *os.File
	next io.Writer
	err  error
}

// createResult creates a file, and puts it before *w, or before ours if *w is nil.
func createResult(dir, name string, w *io.Writer, ours io.Writer) (*resultFile, error) {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	file := &resultFile{f: f, next: *w}
	if file.next == nil {
		file.next = ours
	}
	*w = file
	return file, nil
}

func (f *resultFile) Write(b []byte) (int, error) {
	if f.err == nil {
		_, f.err = f.f.Write(b)
	}
	return f.next.Write(b)
}

// saveResults writes the files of --results of a job that has ended on a worker.
func saveResults(dir string, j *job) error {
	f := &resultFiles{dir: filepath.Join(dir, strconv.FormatInt(j.seq, 10))}
	err := os.MkdirAll(f.dir, 0o777)
	for name, s := range map[string]*stream{"stdout": j.stdout, "stderr": j.stderr} {
		if err == nil {
			err = copyResult(filepath.Join(f.dir, name), s)
		}
	}
	if err != nil {
		return resultError(err)
	}
	return f.close(j)
}

func copyResult(path string, s *stream) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, s.buffer.Reader())
	return cmp.Or(err, f.Close())
}

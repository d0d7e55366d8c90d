package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// session are the commands that the image shows.
var session = []string{
	`stint run --dry-run cp {} old/{/.}.bak ::: backup/*.gz | tail -n 3`,
	`stint run --progress always gzip -t ::: backup/*.gz`,
	`stint run --progress always sleep ::: $(seq 1.1 0.1 3)`,
}

const (
	backups    = 12
	damaged    = 7         // the backup that fails
	backupSize = 180 << 20 // bytes: gzip takes about half a second to test them
)

// prepare makes the files of the session.
func prepare(dir string) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range backupSize >> 20 {
		_, _ = z.Write(make([]byte, 1<<20)) // to memory
	}
	_ = z.Close()
	err := os.MkdirAll(filepath.Join(dir, "backup"), 0o777)
	for i := range backups {
		text := bytes.Clone(b.Bytes())
		if i+1 == damaged {
			text[len(text)-8] ^= 1 // of the checksum
		}
		err = cmp.Or(err, os.WriteFile(filepath.Join(dir, "backup", fmt.Sprintf("%02d.gz", i+1)), text, 0o666))
	}
	return err
}

// A line is a line of the screen.
type line struct {
	at    time.Duration // when it was printed, from the start of the image
	kind  kind
	text  string
	until time.Duration // when the next progress line took its place; 0: it stays
}

// A kind says how a line looks.
type kind string

const (
	command  kind = "command"
	output   kind = "output"
	message  kind = "message"  // of stint
	progress kind = "progress" // of --progress
)

// columns is the width of the screen.
const columns = 100

const (
	pause = 1200 * time.Millisecond // before a command, for the reader
	typed = 600 * time.Millisecond  // between a command and its start
)

// play runs the session in dir, with the programs of bin first, and returns its lines.
func play(ctx context.Context, dir, bin string) ([]line, error) {
	var lines []line
	var now time.Duration
	for _, text := range session {
		lines = append(lines, wrap(line{at: now, kind: command, text: "$ " + text})...)
		now += typed
		printed, took, err := run(ctx, text, dir, bin)
		if err != nil {
			return nil, err
		}
		for _, l := range printed {
			l.at += now
			if last := &lines[len(lines)-1]; l.kind == progress && last.kind == progress {
				last.until = l.at
			}
			lines = append(lines, wrap(l)...)
		}
		now += took + pause
	}
	return lines, nil
}

// run runs a command and returns what it prints. That a job of it fails is no error.
func run(ctx context.Context, text, dir, bin string) (lines []line, took time.Duration, err error) {
	cmd := exec.CommandContext(ctx, "bash", "-c", text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	r, w := io.Pipe()
	cmd.WaitDelay = time.Second   // for what is left after an interrupt
	cmd.Stdout, cmd.Stderr = w, w // one value: one pipe, in the order in which it is written
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	done := make(chan error)
	go func() { done <- errors.Join(cmd.Wait(), w.Close()) }()
	for s := bufio.NewScanner(r); s.Scan(); {
		lines = append(lines, line{at: time.Since(started), kind: kindOf(s.Text()), text: s.Text()})
	}
	err = <-done
	if _, failed := errors.AsType[*exec.ExitError](err); failed && ctx.Err() == nil {
		err = nil
	}
	return lines, time.Since(started), err
}

func kindOf(text string) kind {
	switch {
	case strings.HasPrefix(text, "stint: "):
		return message
	case strings.Contains(text, " jobs, ") && strings.Contains(text, " running, "):
		return progress
	}
	return output
}

// wrap cuts a line at the right edge of the screen, as a terminal does.
func wrap(l line) []line {
	var lines []line
	for len(l.text) > columns {
		lines = append(lines, line{at: l.at, kind: l.kind, text: l.text[:columns]})
		l.text = l.text[columns:]
	}
	return append(lines, l)
}

package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A server keeps the first error of a write. From then on the stream refuses messages, even
// when the disk has room again. So watch waits until the directory can be written, and
// starts another server: at the same address, under the same lock, with all confirmed
// messages, which are on the disk. Clients connect again by themselves.
//
//	race                                       prevented by
//	Close while a directory is full            Close closes stop, and watch ends before Close stops the server.
//	Close while a server is replaced           Close waits for watch, then stops the new server.
//	Close while watch gives up                 watch stops the server; Close finds it stopped.
//	an error during the replacement            Each server has its own logger: its failure belongs to that server.
//	a late error of the server before          Its logger is no longer read.
//	the new server fails like the old one      It is replaced again, later each time, at most maxRestarts times.
//	a connection inside during a replacement   It is refused, and the client retries after a second.
const (
	checkEvery    = 2 * time.Second
	checksInDoubt = 3           // failed checks in a row that count
	maxRestarts   = 6           // in a row
	stableAfter   = time.Minute // the next failure is the first in a row
	reminderEvery = time.Minute // while the directory takes no writes
	probeSize     = 1 << 20     // the largest message
)

// errDirGone says that the directory no longer belongs to the server.
var errDirGone = errors.New("the directory of the server was removed or replaced")

// watch replaces a server that fails, until Close, or gives it up.
func (s *supervisor) watch() {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for failed := 0; ; {
		var why error
		select {
		case <-s.stop:
			return
		case text := <-s.logger.failure:
			why = errors.New(text)
		case <-tick.C:
			certain := false
			if why, certain = s.check(); why == nil {
				failed = 0
				continue
			}
			if failed++; failed < checksInDoubt && !certain {
				continue
			}
		}
		failed = 0
		if err := s.restart(why); err != nil {
			s.giveUp(err)
			return
		}
	}
}

// check returns why the server does not work, or nil, and whether that is certain. It does
// not use the server's health check: one unreadable stream, even of another program, makes
// it fail, and a new server could not read the stream either.
func (s *supervisor) check() (why error, certain bool) {
	if !s.server.JetStreamEnabled() {
		return errors.New("JetStream is off"), true
	}
	if s.settings.memory {
		return nil, false
	}
	now, err := os.Stat(s.storeDir())
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.stored) {
		return errDirGone, true
	}
	return err, false
}

// storeDir returns the directory of the streams.
func (s *supervisor) storeDir() string { return filepath.Join(s.dir, server.JetStreamStoreDir) }

// restart replaces a server that has failed with why, when its directory can be written. It
// returns an error if the server must not be replaced again, and nil after Close.
func (s *supervisor) restart(why error) error {
	if s.settings.memory || why == errDirGone {
		return why
	}
	s.logger.Errorf("the server has failed: %v; it is restarted when %s takes writes", why, s.dir)
	if time.Since(s.replaced) > stableAfter {
		s.restarts = 0
	}
	for ; s.restarts < maxRestarts; s.restarts++ {
		if !s.awaitWritable() || !s.pause(time.Second<<s.restarts/2) {
			return nil
		}
		s.halt()
		err := s.serve()
		if err == nil {
			s.replaced = time.Now()
			s.restarts++
			s.logger.Warnf("the server was restarted")
			return nil
		}
		why = err
		s.logger.Errorf("the server could not be restarted: %v", err)
	}
	return fmt.Errorf("the server was restarted %d times, and fails each time: %w", maxRestarts, why)
}

// awaitWritable waits until the directory can be written. It returns false after Close.
func (s *supervisor) awaitWritable() bool {
	for told := time.Now(); ; {
		err := s.probe()
		if err == nil {
			return true
		}
		if time.Since(told) > reminderEvery {
			s.logger.Errorf("still nothing can be written: %v", err)
			told = time.Now()
		}
		if !s.pause(time.Second) {
			return false
		}
	}
}

// probe writes a file as large as a message, syncs it and removes it.
func (s *supervisor) probe() error {
	f, err := os.Create(filepath.Join(s.dir, "stint.probe"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, probeSize))
	return errors.Join(err, f.Sync(), f.Close())
}

// pause waits. It returns false after Close.
func (s *supervisor) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.stop:
		return false
	}
}

// giveUp closes the client with the reason, and stops the server.
func (s *supervisor) giveUp(why error) {
	s.logger.Errorf("the server has failed, and is stopped: %v", why)
	s.fail(fmt.Errorf("embedded: the server has failed: %w", why))
	s.halt()
}

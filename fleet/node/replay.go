package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
)

// A replay is a request to send events again that the servers lost.
type replay struct {
	ctx          context.Context // of the job
	job          string
	since, until time.Time
	results      chan error
	done         map[string]bool // acknowledged messages, by ID
	// Result:
	runs, lines int
	oldest      time.Time // start of the oldest run with a record
}

// replayEvents sends the events of runs again, and waits until the servers have them. Readers
// recognize events that they have by their IDs.
func (q *jobs) replayEvents(ctx context.Context, j *signed.Job, r *record.JobResult) {
	r.Since, r.Until = j.Since, j.Until
	ctx, cancel := context.WithDeadline(ctx, time.Now().Add(max(0, j.Expires.Sub(q.member.now()))))
	defer cancel()
	t := &replay{ctx: ctx, job: j.ID, since: j.Since, until: j.Until, results: make(chan error, 1), done: make(map[string]bool)}
	var err error
	select {
	case q.outbox.replays <- t:
		poke(q.outbox.wake)
		select {
		case err = <-t.results:
		case <-ctx.Done():
			err = ctx.Err()
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		r.Outcome, r.Message = "failed", err.Error()
		return
	}
	r.Outcome = "stable"
	r.Message = fmt.Sprintf("resent %d lines of %d runs", t.lines, t.runs)
	if t.oldest.After(j.Since) {
		r.Message += ", the oldest recorded one started at " + t.oldest.Format(time.RFC3339)
	}
}

// replayAll carries out the replays. After a broken connection it continues later.
func (o *outbox) replayAll(ctx context.Context) error {
	for {
		if o.replay == nil {
			select {
			case o.replay = <-o.replays:
			default:
				return nil
			}
		}
		t := o.replay
		if t.ctx.Err() != nil { // nobody waits for it any more
			o.replay = nil
			continue
		}
		err := o.replayRuns(ctx, t)
		if _, unreadable := errors.AsType[*fs.PathError](err); err != nil && !unreadable {
			return err
		}
		o.replay = nil
		t.results <- err
	}
}

// replayRuns sends the events again, as far as they were sent before, of runs that began in the
// time of a replay.
func (o *outbox) replayRuns(ctx context.Context, t *replay) error {
	t.runs, t.lines, t.oldest = 0, 0, time.Time{}
	for _, name := range o.records() {
		began, ok := record.RunTime(name)
		if !ok {
			continue
		}
		if t.oldest.IsZero() {
			t.oldest = began
		}
		if began.Before(t.since) || began.After(t.until) || name > o.cursor.Run {
			continue
		}
		lines, err := o.replayRecord(ctx, t, name)
		if err != nil {
			return err
		}
		t.runs++
		t.lines += lines
	}
	return nil
}

// replayRecord sends one record again, up to the cursor, and returns the number of lines.
func (o *outbox) replayRecord(ctx context.Context, t *replay, name string) (lines int, err error) {
	f, err := os.Open(o.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := newLineReader(f, 0)
	for first := 0; name != o.cursor.Run || r.offset < o.cursor.Offset; {
		batch, read, sent, err := nextBatch(r, 0)
		if err != nil || read == 0 {
			return lines, err
		}
		if len(batch) > 0 {
			// The ID differs from that of the first message, which may have had fewer lines.
			id := fmt.Sprintf("%s.again.%s.%s.%d-%d", o.member.identity.Name, t.job, strings.TrimSuffix(name, recordSuffix), first, first+read-1)
			if !t.done[id] {
				if err := o.send(ctx, id, batch); err != nil {
					return lines, err
				}
				t.done[id] = true
			}
		}
		first += read
		lines += sent
	}
	return lines, nil
}

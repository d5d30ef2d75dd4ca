package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/luaccm/ccm/fleet/agent"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/atomicfile"
)

// Limits of messages with events.
const (
	batchBytes = 32 << 10
	lineBytes  = 200 << 10 // a longer line is reduced to its main fields
	keptLines  = 5000      // of lines without a record, while there is no connection
)

// An outbox sends the messages of the node: events and summaries, results of jobs, state and
// facts. It never makes a run wait. Events are read from the records of runs on disk, and a
// cursor records what the servers acknowledged. So nothing is lost as long as a record is kept,
// whichever process ends in between.
type outbox struct {
	member  *member
	report  *report
	wake    chan struct{}
	prompt  chan struct{} // wakes it to send at once
	replays chan *replay  // events to send again

	// A message without acknowledgement may have been stored. It is sent again unchanged: with
	// more lines under the same ID, the servers would take it for the stored one.
	unsure      []byte // lines without a record
	unsureLines int    // number of lines of the record; 0 for none
	replay      *replay

	mu     sync.Mutex
	lines  [][]byte // lines without a record
	part   int      // number in this process, for message IDs
	cursor cursor
}

// A cursor is the position up to which records were sent.
type cursor struct {
	Run    string `json:"run"`    // the record
	Offset int64  `json:"offset"` // in it
	Line   int    `json:"line"`
	Number int64  `json:"number"` // of the node's last message: gaps show lost messages
}

const cursorFile = "cursor.json"

func newOutbox(m *member) *outbox {
	o := &outbox{member: m, wake: make(chan struct{}, 1), prompt: make(chan struct{}, 1), replays: make(chan *replay, 4)}
	text, err := os.ReadFile(filepath.Join(m.options.Directory, cursorFile))
	if err != nil || json.Unmarshal(text, &o.cursor) != nil {
		// A new node does not report runs before it joined.
		if records := o.records(); len(records) > 0 {
			o.cursor.Run = records[len(records)-1]
			if fi, err := os.Stat(o.path(o.cursor.Run)); err == nil {
				o.cursor.Offset = fi.Size()
			}
		}
	}
	return o
}

// add sends a line that is in no record.
func (o *outbox) add(line []byte) {
	o.queue(line)
	poke(o.wake)
}

// addPromptly is add for a line that an operator waits for.
func (o *outbox) addPromptly(line []byte) {
	o.queue(line)
	poke(o.prompt)
}

func (o *outbox) queue(line []byte) {
	o.mu.Lock()
	if len(o.lines) == keptLines {
		o.lines = o.lines[1:]
	}
	o.lines = append(o.lines, bytes.Clone(line))
	o.mu.Unlock()
}

// line is add for a line of a run, except for stable resources.
func (o *outbox) line(line []byte) {
	if tells(line) {
		o.add(line)
	}
}

// tells reports whether an event is sent: those of stable resources are not.
func tells(line []byte) bool {
	var x struct {
		Protocol string `json:"protocol"`
		Outcome  string `json:"outcome"`
	}
	return json.Unmarshal(line, &x) == nil && x.Protocol == agent.EventProtocol && x.Outcome != "stable"
}

// Resend returns the limits of the pauses before a message is sent again that the servers did not
// store. The second pause on is random, and longer each time: if all nodes of a fleet sent 32 KiB
// each second while a stream lacks a leader, the servers would hardly come to choose one.
func (t Timing) Resend() retry.Backoff {
	return retry.Backoff{Min: min(time.Second, t.Retry), Max: min(10*time.Second, t.Retry)}
}

// run sends new messages until the context ends.
func (o *outbox) run(ctx context.Context) {
	failures := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.prompt:
		case <-o.wake:
			o.collect(ctx)
		case <-time.After(jitter(o.member.options.Timing.Retry)):
			o.collect(ctx)
		}
		if !o.member.conn.IsConnected() {
			continue
		}
		err := o.sendAll(ctx)
		if err == nil || ctx.Err() != nil {
			failures = 0
			continue
		}
		failures++
		o.member.log.Debug("fleet: " + err.Error())
		if !retry.Sleep(ctx, o.member.options.Timing.Resend().Delay(failures, mathrand.Float64)) {
			return
		}
		poke(o.wake)
	}
}

// collect waits for further lines, up to one that is sent at once.
func (o *outbox) collect(ctx context.Context) {
	batch := time.NewTimer(o.member.options.Timing.Batch)
	defer batch.Stop()
	select {
	case <-ctx.Done():
	case <-o.prompt:
	case <-batch.C:
	}
}

func (o *outbox) sendAll(ctx context.Context) error {
	if err := o.report.send(ctx); err != nil {
		return err
	}
	return o.sendEvents(ctx)
}

// sendEvents sends all events. A message without acknowledgement is sent first, so that it gets
// the same number again.
func (o *outbox) sendEvents(ctx context.Context) error {
	steps := []func(context.Context) error{o.sendRecords, o.replayAll, o.sendLines}
	switch {
	case o.unsure != nil:
		steps = slices.Insert(steps, 0, o.sendLines)
	case o.replay != nil:
		steps = slices.Insert(steps, 0, o.replayAll)
	}
	var errs []error
	for _, step := range steps {
		if err := step(ctx); err != nil {
			errs = append(errs, err)
		}
		if o.unsure != nil || o.unsureLines > 0 || o.replay != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// sendLines sends the lines without a record.
func (o *outbox) sendLines(ctx context.Context) error {
	for {
		if o.unsure == nil {
			o.unsure = o.takeLines()
		}
		if o.unsure == nil {
			return nil
		}
		id := fmt.Sprintf("%s.%s.%d", o.member.identity.Name, o.member.boot, o.part)
		if err := o.send(ctx, id, o.unsure); err != nil {
			return err
		}
		o.part++
		o.unsure = nil
	}
}

// takeLines takes the lines for one message; nil if there are none.
func (o *outbox) takeLines() (batch []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	count := 0
	for _, line := range o.lines {
		line = shortened(line)
		if count > 0 && len(batch)+len(line)+1 > batchBytes {
			break
		}
		batch = append(append(batch, line...), '\n')
		count++
	}
	o.lines = o.lines[count:]
	return batch
}

// send sends one message.
func (o *outbox) send(ctx context.Context, id string, batch []byte) error {
	_, err := o.member.publish(ctx, subject.Event(o.member.identity.Environment, o.member.identity.Name), batch, direct.ID(id), direct.Header(record.NumberHeader, fmt.Sprint(o.cursor.Number+1)))
	if err != nil {
		return err
	}
	o.cursor.Number++
	if err := o.saveCursor(); err != nil { // a full disk does not undo what was sent
		o.member.log.Debug("fleet: " + err.Error())
	}
	return nil
}

// saveCursor writes the cursor. It need not be durable: messages that are sent again are
// recognized by their ID.
func (o *outbox) saveCursor() error {
	text, err := json.Marshal(o.cursor)
	if err != nil {
		return err
	}
	file := filepath.Join(o.member.options.Directory, cursorFile)
	return atomicfile.Write(file, atomicfile.Options{}, atomicfile.Text(text))
}

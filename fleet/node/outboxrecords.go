package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/fleet/agent"
)

// recordSuffix is how the names of records end, behind the ids of their runs.
const recordSuffix = ".ndjson"

// records returns the names of the records, oldest first.
func (o *outbox) records() []string {
	entries, err := os.ReadDir(o.member.options.Runs)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), recordSuffix) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

func (o *outbox) path(record string) string { return filepath.Join(o.member.options.Runs, record) }

// hasRecord reports whether a run has a record, whose end has its summary.
func (o *outbox) hasRecord(run string) bool {
	_, err := os.Stat(o.path(run + recordSuffix))
	return err == nil
}

// sendRecords sends what records have behind the cursor.
func (o *outbox) sendRecords(ctx context.Context) error {
	for {
		records := o.records()
		at, found := slices.BinarySearch(records, o.cursor.Run)
		if !found { // there is none yet, or it was removed as too old
			if at == len(records) {
				return nil
			}
			o.cursor.Run, o.cursor.Offset, o.cursor.Line = records[at], 0, 0
		}
		if err := o.sendRecord(ctx); err != nil {
			return err
		}
		// The next one may begin while this goes on, if it is of another site; a run that is at work
		// holds the lock, so whatever comes later is complete.
		if at+1 >= len(records) {
			return nil
		}
		if err := o.goOn(ctx, records[at+1]); err != nil {
			return err
		}
	}
}

// goOn goes on to the next record. Of a run that died, which has no summary in its own, it tells that.
func (o *outbox) goOn(ctx context.Context, next string) error {
	before := o.cursor
	summary, err := o.interruption(before.Run)
	if err != nil {
		o.member.log.Debug("fleet: " + err.Error())
	}
	o.cursor.Run, o.cursor.Offset, o.cursor.Line = next, 0, 0
	if summary == nil {
		return nil
	}
	id := fmt.Sprintf("%s.%s.died", o.member.identity.Name, strings.TrimSuffix(before.Run, recordSuffix))
	if err := o.send(ctx, id, append(summary, '\n')); err != nil {
		o.cursor = before
		return err
	}
	return nil
}

// sendRecord sends what one record has behind the cursor, up to its last complete line.
func (o *outbox) sendRecord(ctx context.Context) error {
	f, err := os.Open(o.path(o.cursor.Run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	r := newLineReader(f, o.cursor.Offset)
	run := strings.TrimSuffix(o.cursor.Run, recordSuffix)
	for {
		first := o.cursor.Line
		batch, lines, _, err := nextBatch(r, o.unsureLines)
		if err != nil || lines == 0 {
			return err
		}
		before := o.cursor
		o.cursor.Line, o.cursor.Offset = o.cursor.Line+lines, r.offset
		if len(batch) == 0 {
			continue
		}
		// The name says which lines these are: a process that starts again may send others from the same one on.
		if err := o.send(ctx, fmt.Sprintf("%s.%s.%d-%d", o.member.identity.Name, run, first, o.cursor.Line-1), batch); err != nil {
			number := o.cursor.Number
			o.cursor = before
			o.cursor.Number = number
			o.unsureLines = lines
			return err
		}
		o.unsureLines = 0
	}
}

// nextBatch returns what is sent of the next lines of a record, at most so many (0 for any number), as one
// message; how many lines these are, and how many of them are sent. No lines are its end.
func nextBatch(r *lineReader, most int) (batch []byte, lines, sent int, err error) {
	for len(batch) < batchBytes && (most == 0 || lines < most) {
		line, ok, err := r.next()
		if err != nil {
			return nil, 0, 0, err
		}
		if !ok {
			break
		}
		lines++
		if out := ofRecord(line); out != nil {
			batch = append(append(batch, shortened(out)...), '\n')
			sent++
		}
	}
	return batch, lines, sent, nil
}

// ofRecord returns what is sent of a line of a record; nil if nothing is.
func ofRecord(line []byte) []byte {
	var x struct {
		Protocol string          `json:"protocol"`
		Summary  json.RawMessage `json:"summary"`
	}
	if json.Unmarshal(line, &x) != nil {
		return nil
	}
	switch x.Protocol {
	case endProtocol:
		return x.Summary
	case agent.EventProtocol:
		if tells(line) {
			return line
		}
	}
	return nil
}

// shortened returns a line, or what it is about if it is too long for a message.
func shortened(line []byte) []byte {
	if len(line) <= lineBytes {
		return line
	}
	var x map[string]json.RawMessage
	if json.Unmarshal(line, &x) != nil {
		return []byte(`{"protocol":"io.choria.ccm.v1.damaged"}`)
	}
	for name, value := range x {
		if len(value) > 4096 {
			delete(x, name)
		}
	}
	x["_truncated"] = json.RawMessage("true")
	out, err := json.Marshal(x)
	if err != nil || len(out) > lineBytes {
		return []byte(`{"protocol":"io.choria.ccm.v1.damaged"}`)
	}
	return out
}

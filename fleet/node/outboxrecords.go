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

// recordSuffix ends the names of records, after the IDs of their runs.
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

// hasRecord reports whether a run has a record. Its summary is sent from there.
func (o *outbox) hasRecord(run string) bool {
	_, err := os.Stat(o.path(run + recordSuffix))
	return err == nil
}

// sendRecords sends the lines of records behind the cursor.
func (o *outbox) sendRecords(ctx context.Context) error {
	for {
		records := o.records()
		at, found := slices.BinarySearch(records, o.cursor.Run)
		if !found { // there is none yet, or it was removed
			if at == len(records) {
				return nil
			}
			o.cursor.Run, o.cursor.Offset, o.cursor.Line = records[at], 0, 0
		}
		if err := o.sendRecord(ctx); err != nil {
			return err
		}
		// The next run may begin meanwhile, if it is of another site. A run holds the lock while it
		// works, so all earlier records are complete.
		if at+1 >= len(records) {
			return nil
		}
		if err := o.goOn(ctx, records[at+1]); err != nil {
			return err
		}
	}
}

// goOn moves the cursor to the next record. For a dead run, whose record has no summary, it sends
// one.
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

// sendRecord sends the lines of a record behind the cursor, up to the last complete one.
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
		// The ID names the lines: after a restart, the first of them may be sent in another
		// message.
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

// nextBatch returns the next lines of a record as one message, at most so many (0 for any
// number), with the number of lines read and of lines sent. Zero lines mean the end.
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

// ofRecord returns the text to send for a line of a record; nil for none.
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

// shortened returns a line, or its main fields if it is too long for a message.
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

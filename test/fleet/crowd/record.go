package crowd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What each node tells in all rounds: so many messages, with so many events of so many bytes.
const (
	Rounds     = 10
	Events     = 5
	eventBytes = 600
)

// recordName is the run whose record nodes send. It comes behind all others.
const recordName = "99991231T000000.000000Z-bench.ndjson"

// Append writes the next events into the record of the node's run, as a run does.
func (m *Machine) Append(round int) error {
	f, err := os.OpenFile(filepath.Join(m.RunsDir(), recordName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	var lines bytes.Buffer
	for i := range Events {
		line := map[string]any{"protocol": "io.choria.ccm.v1.transaction.event", "event_id": fmt.Sprintf("bench-%s-%d-%d", m.Name, round, i), "outcome": "changed", "message": ""}
		bare, err := json.Marshal(line)
		if err != nil {
			return err
		}
		line["message"] = strings.Repeat("m", eventBytes-len(bare))
		text, err := json.Marshal(line)
		if err != nil {
			return err
		}
		lines.Write(append(text, '\n'))
	}
	_, err = f.Write(lines.Bytes())
	return err
}

// HasReported reports whether the servers have acknowledged all of the record.
func (m *Machine) HasReported() bool {
	text, err := os.ReadFile(filepath.Join(m.Dir, "fleet", "cursor.json"))
	var c struct {
		Run    string `json:"run"`
		Offset int64  `json:"offset"`
	}
	if err != nil || json.Unmarshal(text, &c) != nil || c.Run != recordName {
		return false
	}
	info, err := os.Stat(filepath.Join(m.RunsDir(), recordName))
	return err == nil && c.Offset == info.Size()
}

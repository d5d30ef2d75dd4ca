package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/fleet/agent"
)

// The messages of each node: number of rounds, events in each, bytes of an event.
const (
	Rounds     = 10
	Events     = 5
	eventBytes = 600
)

// recordName is the record of the simulated run. It sorts after all others.
const recordName = "99991231T000000.000000Z-bench.ndjson"

// events returns the events of a node in a round, one a line.
func events(name string, round int) ([]byte, error) {
	var lines []byte
	for i := range Events {
		line := map[string]any{"protocol": agent.EventProtocol, "event_id": fmt.Sprintf("bench-%s-%d-%d", name, round, i), "outcome": "changed", "message": ""}
		bare, err := json.Marshal(line)
		if err != nil {
			return nil, err
		}
		line["message"] = strings.Repeat("m", eventBytes-len(bare))
		text, err := json.Marshal(line)
		if err != nil {
			return nil, err
		}
		lines = append(append(lines, text...), '\n')
	}
	return lines, nil
}

// Append appends the events of a round to the record, as a run does.
func (m *Machine) Append(round int) error {
	lines, err := events(m.Name, round)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(m.RunsDir(), recordName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(lines)
	return err
}

// Tell implements Member. The events are in the record of a run.
func (m *Machine) Tell(_ context.Context, round int) error {
	if err := m.Append(round); err != nil {
		return err
	}
	m.Node.RunLine(&agent.Run{Request: agent.Request{Mode: agent.Apply}}, nil)
	return nil
}

// HasReported implements Member.
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

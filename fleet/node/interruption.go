package node

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/luaccm/ccm/fleet/agent"
)

// Protocols of lines in a record that are not in its report: those of package state.
const (
	startProtocol = "io.choria.ccm.v1.session.start"
	endProtocol   = "io.choria.ccm.v1.session.end"
)

// An interruption is the summary for a run that ended without one: it was killed, or the machine
// lost its power. It has the fields of any summary, as far as they are known.
type interruption struct {
	Protocol    string          `json:"protocol"`
	RunID       string          `json:"run_id"`
	Host        string          `json:"host,omitempty"`
	StartTime   json.RawMessage `json:"start_time,omitempty"`
	Total       int             `json:"total_resources"`
	Stable      int             `json:"stable_resources"`
	Changed     int             `json:"changed_resources"`
	Pending     int             `json:"pending_resources"`
	Unknown     int             `json:"unknown_resources"`
	Skipped     int             `json:"skipped_resources"`
	Failed      int             `json:"failed_resources"`
	Interrupted bool            `json:"interrupted"`
}

// count counts a resource by its outcome.
func (s *interruption) count(outcome string) {
	s.Total++
	switch outcome {
	case "stable":
		s.Stable++
	case "changed":
		s.Changed++
	case "pending":
		s.Pending++
	case "unknown":
		s.Unknown++
	case "skipped":
		s.Skipped++
	case "failed":
		s.Failed++
	}
}

// interruption returns the summary for a run whose record has none; nil if it has one, or there
// is nothing to tell. The run must have ended.
func (o *outbox) interruption(name string) ([]byte, error) {
	f, err := os.Open(o.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := interruption{Protocol: agent.SummaryProtocol, RunID: strings.TrimSuffix(name, recordSuffix), Interrupted: true}
	began := false
	for r := newLineReader(f, 0); ; {
		line, ok, err := r.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		var x struct {
			Protocol  string          `json:"protocol"`
			Host      string          `json:"host"`
			StartTime json.RawMessage `json:"start_time"`
			Outcome   string          `json:"outcome"`
		}
		if json.Unmarshal(line, &x) != nil {
			continue
		}
		switch x.Protocol {
		case startProtocol:
			began, s.Host, s.StartTime = true, x.Host, x.StartTime
		case agent.EventProtocol:
			s.count(x.Outcome)
		case endProtocol:
			return nil, nil
		}
	}
	if !began {
		return nil, nil
	}
	return json.Marshal(s)
}

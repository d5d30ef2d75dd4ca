package node

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// The lines of a record that say how a run began and ended.
const (
	startProtocol   = "io.choria.ccm.v1.session.start"
	endProtocol     = "io.choria.ccm.v1.session.end"
	summaryProtocol = "io.choria.ccm.v1.session.summary"
	eventProtocol   = "io.choria.ccm.v1.transaction.event"
)

// A diedSummary is what is told of a run that ended without a word: it was killed, or the machine lost its power. It
// has the fields of the summary of any run, as far as they are known.
type diedSummary struct {
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
func (s *diedSummary) count(outcome string) {
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

// died returns the summary of a run whose record has none; nil if it has one, or there is nothing to tell. The run is
// not under way any more.
func (o *outbox) died(name string) ([]byte, error) {
	f, err := os.Open(o.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := diedSummary{Protocol: summaryProtocol, RunID: strings.TrimSuffix(name, recordSuffix), Interrupted: true}
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
		case eventProtocol:
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

package job

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/author"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
)

// A SentJob is a job that was sent, with its results.
type SentJob struct {
	*signed.Job
	author.Authorship           // By of the job is only what the job claims
	Stored            time.Time `json:"stored"`
	Progress          *Progress `json:"progress"`
}

// History returns the last jobs of an environment, or of all if it is "", newest first. Book returns
// the signers whom the operator believes in an environment; nil checks no signatures. The results of jobs are known as long as
// the events are kept.
func History(ctx context.Context, nc *nats.Conn, environment string, last int, book func(environment string) (*author.Book, error)) ([]*SentJob, error) {
	filter := subject.AllJobs
	if environment != "" {
		filter = subject.Job(environment, "")
	}
	byID := make(map[string]*SentJob)
	read := func(m *direct.Message) error {
		j := new(signed.Job)
		if signed.Read(m.Data, j) != nil {
			return nil
		}
		var a author.Authorship
		if book != nil {
			b, err := book(j.Environment)
			if err != nil {
				return err
			}
			a = b.Look(m.Data, j)
		}
		if before := byID[j.ID]; before == nil || !before.Verified && a.Verified {
			byID[j.ID] = &SentJob{Job: j, Authorship: a, Stored: m.Time}
		}
		return nil
	}
	for _, of := range []string{filter, filter + ".*"} {
		if err := direct.All(ctx, nc, direct.Request{Stream: subject.Jobs, Filter: of}, read); err != nil {
			return nil, err
		}
		if environment == "" {
			break
		}
	}
	var list []*SentJob
	for _, p := range byID {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *SentJob) int { return b.Stored.Compare(a.Stored) })
	if last > 0 && len(list) > last {
		list = list[:last]
	}
	return list, results(ctx, nc, list)
}

// results reads the results of jobs.
func results(ctx context.Context, nc *nats.Conn, list []*SentJob) error {
	if len(list) == 0 {
		return nil
	}
	type answers map[string]*Node
	known, meant := make(map[string]answers), make(map[string]bool) // whether a job names its nodes
	oldest := list[0].CreateTime
	for _, p := range list {
		known[p.ID], meant[p.ID] = answers{}, len(p.Nodes) > 0
		for _, name := range p.Nodes {
			known[p.ID][name] = &Node{Name: name, sentAt: p.CreateTime}
		}
		if p.CreateTime.Before(oldest) {
			oldest = p.CreateTime
		}
	}
	err := direct.All(ctx, nc, direct.Request{Stream: subject.Events, Filter: subject.AllEvents, Since: oldest.Add(-signed.Skew)}, func(m *direct.Message) error {
		if !bytes.Contains(m.Data, []byte(record.JobProtocol)) {
			return nil
		}
		for line := range bytes.Lines(m.Data) {
			r, ok := record.DecodeJobResult(line)
			a := known[r.Job]
			if !ok || a == nil {
				continue
			}
			name := nodeOf(m.Subject)
			if a[name] == nil {
				if meant[r.Job] {
					continue // all nodes refuse an untrusted signature
				}
				a[name] = &Node{Name: name}
			}
			a[name].heard(r)
		}
		return nil
	})
	for _, p := range list {
		var nodes []*Node
		for _, n := range known[p.ID] {
			nodes = append(nodes, n)
		}
		slices.SortFunc(nodes, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
		p.Progress = count(p.Job, nodes)
		if missing := p.Count - len(nodes); missing > 0 { // of a job for more nodes than it names
			p.Progress.NotAsked, p.Progress.Nodes = missing, p.Count
		}
	}
	return err
}

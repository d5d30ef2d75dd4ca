package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/signers"
)

// trust returns whom the node believes: those who are pinned in its file, or those that they have
// named since.
func (n *Node) trust() (*signed.Trust, error) {
	file, text, threshold := n.o.SignersFile, n.o.SignersText, n.o.Threshold
	if _, _, who := n.memory.documents(); who != nil {
		file, text, threshold = fmt.Sprintf("signers %d of %s", who.Version, who.Environment), who.Signers, who.Threshold
	}
	list, err := signers.Parse(file, text)
	if err != nil {
		return nil, fmt.Errorf("signers: %w", err)
	}
	return &signed.Trust{Environment: n.identity.Environment, Signers: list, Threshold: threshold}, nil
}

// controlChanged takes a document as it was told.
func (n *Node) controlChanged(m *nats.Msg) {
	for _, key := range n.keys() {
		if m.Subject == subject.ControlChange(key.name) && len(m.Data) > 0 {
			if err := n.accept(key, m.Data); err != nil {
				n.refused(key, m.Data, err)
			}
		}
	}
}

// A controlKey is a key of the bucket, and where its document is kept.
type controlKey struct {
	name, file string
	empty      func() signed.Document
}

// keys are those of the environment. Who may sign comes first: the others may be signed by new ones.
func (n *Node) keys() []controlKey {
	env := n.identity.Environment
	return []controlKey{
		{subject.SignersKey(env), signersFile, func() signed.Document { return new(signed.Signers) }},
		{subject.ReleaseKey(env), releaseFile, func() signed.Document { return new(signed.Release) }},
		{subject.RolloutKey(env), rolloutFile, func() signed.Document { return new(signed.Rollout) }},
	}
}

// follow reads the documents when it is asked to, and from time to time: what is told makes it fast, what
// is read makes it right.
func (n *Node) follow(ctx context.Context) {
	timer := time.NewTimer(n.o.Timing.Control)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.control:
		case <-timer.C:
		}
		timer.Reset(jitter(n.o.Timing.Control))
		if !n.nc.IsConnected() {
			continue
		}
		n.renew(ctx)
		n.readControl(ctx)
		n.readJobs(ctx)
		poke(n.decide)
	}
}

// lags is how often a document is read again that is older than what was seen: by then all replicas
// have it.
const lags = 5

func (n *Node) readControl(ctx context.Context) {
	for _, key := range n.keys() {
		var err error
		var text []byte
		for try := range lags {
			if try > 0 && !sleep(ctx, min(time.Second, n.o.Timing.Retry)) {
				return
			}
			var m *direct.Message
			m, err = direct.Last(ctx, n.nc, subject.KVStream(subject.Control), subject.KV(subject.Control, key.name))
			if errors.Is(err, direct.ErrNone) || err == nil && m.Deleted() {
				err = nil // an emptied server changes nothing
				break
			}
			if err == nil {
				text = m.Data
				err = n.accept(key, text)
			}
			if signed.ReasonOf(err) != signed.RollbackRefused {
				break
			}
		}
		n.refused(key, text, err)
	}
}

// errNotKept says that a document would be believed, and cannot be written.
var errNotKept = errors.New("it cannot be kept, and so not be obeyed")

// accept believes a document, or says why not.
func (n *Node) accept(key controlKey, text []byte) error {
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	highest := n.memory.highest(key.file)
	if digest == highest.Digest {
		n.believed(key)
		return nil
	}
	trust, err := n.trust()
	if err != nil {
		return err
	}
	doc := key.empty()
	who, err := trust.Open(text, n.now(), doc)
	if err != nil {
		return err
	}
	version := versionOf(doc)
	if err := signed.Newer(version, highest.Version); err != nil { // before what it says is looked at
		return err
	}
	if s, ok := doc.(*signed.Signers); ok {
		if list, err := signers.Parse("signers", s.Signers); err != nil || list.Len() < s.Threshold {
			return fmt.Errorf("signers %d could not be obeyed: fewer signers than must sign, or none: %w", s.Version, errors.Join(err))
		}
	}
	if err := n.memory.keep(key.file, doc, version, digest, text); err != nil {
		return err
	}
	n.believed(key)
	var names []string
	for _, s := range who {
		names = append(names, s.String())
	}
	n.log.Info(fmt.Sprintf("fleet: %s %d, signed by %s", key.name, version, strings.Join(names, ", ")))
	poke(n.decide)
	return nil
}

// believed ends the problems that a document had.
func (n *Node) believed(key controlKey) { n.refused(key, nil, nil) }

// refused tells that a document is not believed; nil that it is. What was believed before holds.
func (n *Node) refused(key controlKey, text []byte, err error) {
	p := record.Problem{Message: key.name + ": "}
	if err != nil {
		p.Message += err.Error()
		p.Release, p.Bundle = releaseOf(key, text)
	}
	reason := signed.ReasonOf(err)
	switch {
	case err == nil:
		for _, code := range []record.ProblemCode{record.RollbackRefused, record.SignatureRefused, record.BundleError} {
			n.mu.Lock()
			p := n.problems[code]
			n.mu.Unlock()
			if strings.HasPrefix(p.Message, key.name+": ") {
				n.problem(code, "")
			}
		}
	case reason == signed.RollbackRefused:
		p.Code = record.RollbackRefused
		n.note(p)
	case reason != "":
		p.Code = record.SignatureRefused
		n.note(p)
	case errors.Is(err, errNotKept):
		p.Code = record.BundleError
		n.note(p)
		time.AfterFunc(jitter(n.o.Timing.Retry), func() { poke(n.control) })
	default:
		n.log.Debug("fleet: " + key.name + ": " + err.Error())
	}
}

// releaseOf returns of which release a document speaks that is not believed; 0 if of none, or if it cannot be
// read.
func releaseOf(key controlKey, text []byte) (version int64, bundle string) {
	doc := key.empty()
	if signed.Read(text, doc) != nil {
		return 0, ""
	}
	switch doc := doc.(type) {
	case *signed.Release:
		return doc.Version, doc.Bundle
	case *signed.Rollout:
		return doc.Release, ""
	}
	return 0, ""
}

func versionOf(doc signed.Document) int64 {
	switch doc := doc.(type) {
	case *signed.Release:
		return doc.Version
	case *signed.Rollout:
		return doc.Version
	case *signed.Signers:
		return doc.Version
	}
	return 0
}

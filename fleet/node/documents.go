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
	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/signers"
)

// documents are the signed documents of an environment: the signers, the release, its rollout.
type documents struct {
	member   *member
	wake     chan struct{} // documents have to be read
	onChange func()        // called when a new document is accepted
}

// receive accepts a document from a message.
func (d *documents) receive(m *nats.Msg) {
	for _, key := range d.keys() {
		if m.Subject == subject.ControlChange(key.name) && len(m.Data) > 0 {
			if err := d.accept(key, m.Data); err != nil {
				d.recordRefusal(key, m.Data, err)
			}
		}
	}
}

// A controlKey is a key of the bucket, with the file in which the node keeps its document.
type controlKey struct {
	name, file string
	empty      func() signed.Document
}

// keys returns the keys of the environment. The signers come first, because new ones may have
// signed the others.
func (d *documents) keys() []controlKey {
	env := d.member.identity.Environment
	return []controlKey{
		{subject.SignersKey(env), signersFile, func() signed.Document { return new(signed.Signers) }},
		{subject.ReleaseKey(env), releaseFile, func() signed.Document { return new(signed.Release) }},
		{subject.RolloutKey(env), rolloutFile, func() signed.Document { return new(signed.Rollout) }},
	}
}

// lags is the number of times that an outdated document is read again: by then all replicas have
// the new one.
const lags = 5

// read reads the documents from the servers.
func (d *documents) read(ctx context.Context) {
	for _, key := range d.keys() {
		var err error
		var text []byte
		for try := range lags {
			if try > 0 && !retry.Sleep(ctx, min(time.Second, d.member.options.Timing.Retry)) {
				return
			}
			var m *direct.Message
			m, err = direct.Last(ctx, d.member.conn, subject.KVStream(subject.Control), subject.KV(subject.Control, key.name))
			if errors.Is(err, direct.ErrNone) || err == nil && m.Deleted() {
				err = nil // an emptied server changes nothing
				break
			}
			if err == nil {
				text = m.Data
				err = d.accept(key, text)
			}
			if signed.ReasonOf(err) != signed.RollbackRefused {
				break
			}
		}
		d.recordRefusal(key, text, err)
	}
}

// errNotKept says that a valid document could not be written, and so is not obeyed.
var errNotKept = diag.SubjectCannot("", "be stored, so it is not applied")

// accept checks and accepts a document. The error is the reason of a refusal.
func (d *documents) accept(key controlKey, text []byte) error {
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	highest := d.member.memory.highest(key.file)
	if digest == highest.Digest {
		d.endProblems(key)
		return nil
	}
	trust, err := d.member.trust()
	if err != nil {
		return err
	}
	doc := key.empty()
	who, err := trust.Open(text, d.member.now(), doc)
	if err != nil {
		return err
	}
	version := versionOf(doc)
	if err := signed.Newer(version, highest.Version); err != nil { // before its content is looked at
		return err
	}
	if s, ok := doc.(*signed.Signers); ok {
		if list, err := signers.Parse("signers", s.Signers); err != nil || list.Len() < s.Threshold {
			return fmt.Errorf("signers %d not applied: fewer signers than required, or none: %w", s.Version, errors.Join(err))
		}
	}
	if err := d.member.memory.keep(key.file, doc, version, digest, text); err != nil {
		return err
	}
	d.endProblems(key)
	var names []string
	for _, s := range who {
		names = append(names, s.String())
	}
	d.member.log.Info(fmt.Sprintf("fleet: %s %d, signed by %s", key.name, version, strings.Join(names, ", ")))
	d.onChange()
	return nil
}

// endProblems ends the problems of a document.
func (d *documents) endProblems(key controlKey) { d.recordRefusal(key, nil, nil) }

// recordRefusal records that a document was refused; with a nil err, that it was accepted. The document
// accepted before stays in force.
func (d *documents) recordRefusal(key controlKey, text []byte, err error) {
	var p record.Problem
	if err != nil {
		p.Message = err.Error()
		p.Release, p.Bundle = releaseOf(key, text)
	}
	reason := signed.ReasonOf(err)
	switch {
	case err == nil:
		for _, code := range []record.ProblemCode{record.RollbackRefused, record.SignatureRefused, record.BundleError} {
			d.member.problems.clear(code, key.name)
		}
	case reason == signed.RollbackRefused:
		p.Code = record.RollbackRefused
		d.member.problems.setAbout(key.name, p)
	case reason != "":
		p.Code = record.SignatureRefused
		d.member.problems.setAbout(key.name, p)
	case errors.Is(err, errNotKept):
		p.Code = record.BundleError
		d.member.problems.setAbout(key.name, p)
		time.AfterFunc(jitter(d.member.options.Timing.Retry), func() { poke(d.wake) })
	default:
		d.member.log.Debug("fleet: " + key.name + ": " + err.Error())
	}
}

// releaseOf returns the release to which a refused document belongs; 0 if there is none, or if
// the document cannot be read.
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

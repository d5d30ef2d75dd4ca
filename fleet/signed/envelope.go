// Package signed reads and makes the documents that nodes of a fleet obey: releases, rollouts, jobs
// and who may sign them. A document is JSON, then one or more SSH signatures (PROTOCOL.sshsig of
// OpenSSH, as ssh-keygen -Y sign writes them) over exactly the bytes before the first.
//
// Begin with [Trust.Open], which is how a node reads one, and [Sign], which makes one. What comes is
// from a network and believed only if as many of the signers signed it as must have.
package signed

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/signers"
)

// MaxSize is how many bytes a document may have with its signatures. The values of the bucket that
// holds them have no more.
const MaxSize = 64 << 10

// maxSignatures is how many signatures a document may have.
const maxSignatures = 16

// Skew is how far clocks may differ.
const Skew = 5 * time.Minute

// A Kind is one kind of document.
type Kind struct {
	// Protocol names it in the document.
	Protocol string
	// Namespace is what it is signed for, so that a signature for one kind is none for another.
	Namespace string
}

// The kinds of documents.
var (
	KindRelease = Kind{"io.choria.ccm.v1.release", "ccm-release"}
	KindRollout = Kind{"io.choria.ccm.v1.rollout", "ccm-rollout"}
	KindJob     = Kind{"io.choria.ccm.v1.job", "ccm-job"}
	KindSigners = Kind{"io.choria.ccm.v1.signers", "ccm-signers"}
)

// A Document is what one of the types of this package is: *Release, *Rollout, *Job and *Signers.
type Document interface {
	// Kind is that of the document.
	Kind() Kind
	// Head is what all documents begin with.
	Head() *Header
	// Validate returns what is wrong with the content.
	Validate() error
}

// A Header is what all documents begin with.
type Header struct {
	Protocol    string    `json:"protocol"`
	Environment string    `json:"environment"`
	CreateTime  time.Time `json:"created"`
	Expires     time.Time `json:"expires"`
}

// Head implements Document.
func (h *Header) Head() *Header { return h }

// A RefusedError says that a document is not believed. Reason is a word for programs.
type RefusedError struct {
	Reason Reason
	Err    error
}

// A Reason is why a document is refused.
type Reason string

// The reasons.
const (
	Malformed        Reason = "malformed"
	WrongKind        Reason = "wrong_kind"
	WrongEnvironment Reason = "wrong_environment"
	SignatureRefused Reason = "signature_refused"
	ThresholdShort   Reason = "threshold"
	RollbackRefused  Reason = "rollback_refused"
	ClockSkew        Reason = "clock_skew"
	Expired          Reason = "expired"
	Replayed         Reason = "replay"
	NotMeant         Reason = "not_meant"
)

// Error says why.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *RefusedError) Unwrap() error { return e.Err }

func refuse(reason Reason, format string, args ...any) error {
	return &RefusedError{reason, fmt.Errorf(format, args...)}
}

// ReasonOf returns why a document was refused, or "" if the error is of another kind.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*RefusedError](err); ok {
		return e.Reason
	}
	return ""
}

// Trust is whom a node believes.
type Trust struct {
	Environment string
	Signers     *signers.List
	// Threshold is how many of the signers must have signed a release, or who may sign. Jobs and
	// rollouts need one. Less than 1 stands for 1.
	Threshold int
}

// Open checks a document and decodes it into doc. Signers are asked for the time now, which is what
// [Time.Now] returns. Versions and expiry are not looked at: see [Newer], [Release.Begins] and [Job.Check].
func (t *Trust) Open(text []byte, now time.Time, doc Document) ([]signers.Signer, error) {
	payload, signatures, err := split(text)
	if err != nil {
		return nil, err
	}
	// What is signed is looked at before anything of it is decoded.
	kind := doc.Kind()
	who, err := t.verify(payload, signatures, kind.Namespace, now)
	if err != nil {
		return nil, err
	}
	if want := t.threshold(kind); len(who) < want {
		return nil, refuse(ThresholdShort, "%d of the signers have signed it, and %d must have", len(who), want)
	}
	if err := decode(payload, doc); err != nil {
		return nil, err
	}
	if env := doc.Head().Environment; env != t.Environment {
		return nil, refuse(WrongEnvironment, "it is for the environment %q, and this is %q", env, t.Environment)
	}
	return who, nil
}

// Read decodes a document without asking who has signed it, for those who only show it.
func Read(text []byte, doc Document) error {
	payload, _, err := split(text)
	if err != nil {
		return err
	}
	return decode(payload, doc)
}

func (t *Trust) threshold(k Kind) int {
	if k == KindRelease || k == KindSigners {
		return max(t.Threshold, 1)
	}
	return 1
}

// verify returns who has signed a payload, each once. One signature that is wrong is too many.
func (t *Trust) verify(payload []byte, signatures [][]byte, namespace string, now time.Time) (who []signers.Signer, err error) {
	seen := make(map[string]bool)
	for _, signature := range signatures {
		if err := signers.Canonical(signature); err != nil {
			return nil, &RefusedError{SignatureRefused, err}
		}
		s, err := t.Signers.Verify(bytes.NewReader(payload), signature, namespace, now)
		if err != nil {
			return nil, &RefusedError{SignatureRefused, err}
		}
		names := append(strings.Split(s.Principal, ","), s.Fingerprint)
		known := false
		for _, name := range names {
			known = known || seen[name]
			seen[name] = true
		}
		if !known {
			who = append(who, s)
		}
	}
	return who, nil
}

const (
	armorBegin = "-----BEGIN SSH SIGNATURE-----"
	armorEnd   = "-----END SSH SIGNATURE-----\n"
)

// split cuts a document into what is signed, and the signatures.
func split(text []byte) (payload []byte, signatures [][]byte, err error) {
	if len(text) > MaxSize {
		return nil, nil, refuse(Malformed, "it has %d bytes, and may have %d", len(text), MaxSize)
	}
	at := bytes.Index(text, []byte("\n"+armorBegin))
	if at < 0 {
		return nil, nil, refuse(Malformed, "it has no signature")
	}
	payload, rest := text[:at+1], text[at+1:]
	for len(rest) > 0 {
		end := bytes.Index(rest, []byte(armorEnd))
		if !bytes.HasPrefix(rest, []byte(armorBegin+"\n")) || end < 0 {
			return nil, nil, refuse(Malformed, "something stands behind its signatures, or one has no end")
		}
		if len(signatures) == maxSignatures {
			return nil, nil, refuse(Malformed, "it has more than %d signatures", maxSignatures)
		}
		end += len(armorEnd)
		signatures, rest = append(signatures, rest[:end]), rest[end:]
	}
	return payload, signatures, nil
}

// Payload returns the part of a document that is signed.
func Payload(text []byte) ([]byte, error) {
	payload, _, err := split(text)
	return payload, err
}

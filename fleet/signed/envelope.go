// Package signed reads and makes the documents that nodes of a fleet obey: releases, rollouts,
// jobs and lists of signers. A document is JSON, followed by one or more SSH signatures
// (PROTOCOL.sshsig of OpenSSH, as ssh-keygen -Y sign writes them) of exactly the bytes before the
// first signature.
//
// Begin with [Trust.Open], by which a node reads a document, and [Sign], which makes one. A
// document comes from a network, and is trusted only if enough signers have signed it.
package signed

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/signers"
)

// MaxSize is the size limit, in bytes, of a document with its signatures. Values of its bucket
// have the same limit.
const MaxSize = 64 << 10

// maxSignatures is the largest number of signatures of a document.
const maxSignatures = 16

// Skew is the tolerated difference of clocks.
const Skew = 5 * time.Minute

// A Kind is a kind of document.
type Kind struct {
	// Protocol is the kind's name in the document.
	Protocol string
	// Namespace is the namespace of its signatures, so that a signature of one kind is not valid
	// for another.
	Namespace string
}

// The kinds of documents.
var (
	KindRelease = Kind{"io.choria.ccm.v1.release", "ccm-release"}
	KindRollout = Kind{"io.choria.ccm.v1.rollout", "ccm-rollout"}
	KindJob     = Kind{"io.choria.ccm.v1.job", "ccm-job"}
	KindSigners = Kind{"io.choria.ccm.v1.signers", "ccm-signers"}
)

// A Document is a *Release, *Rollout, *Job or *Signers.
type Document interface {
	// Kind returns the kind of the document.
	Kind() Kind
	// Head returns the common header.
	Head() *Header
	// Validate returns the mistake in the content.
	Validate() error
}

// A Header is the common beginning of all documents.
type Header struct {
	Protocol    string    `json:"protocol"`
	Environment string    `json:"environment"`
	CreateTime  time.Time `json:"created"`
	Expires     time.Time `json:"expires"`
}

// Head implements Document.
func (h *Header) Head() *Header { return h }

// A RefusedError reports that a document was refused. Reason is a word for programs.
type RefusedError struct {
	Reason Reason
	Err    error
}

// A Reason is the reason of a refusal.
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

// Error returns the reason in words.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

func refuse(reason Reason, format string, args ...any) error {
	return &RefusedError{reason, fmt.Errorf(format, args...)}
}

// ReasonOf returns the reason for which a document was refused, or "" for another error.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*RefusedError](err); ok {
		return e.Reason
	}
	return ""
}

// Trust has the signers whom a node trusts.
type Trust struct {
	Environment string
	Signers     *signers.List
	// Threshold is the number of signers who must have signed a release or a list of signers. Jobs
	// and rollouts need one. Less than 1 means 1.
	Threshold int
}

// Open checks a document and decodes it into doc. Signers have to be allowed at the time now,
// which is that of [Time.Now]. Open does not check versions and expiry: see [Newer],
// [Release.Begins] and [Job.Check].
func (t *Trust) Open(text []byte, now time.Time, doc Document) ([]signers.Signer, error) {
	payload, signatures, err := split(text)
	if err != nil {
		return nil, err
	}
	// The signatures are verified before anything is decoded.
	kind := doc.Kind()
	who, err := t.verify(payload, signatures, kind.Namespace, now)
	if err != nil {
		return nil, err
	}
	if want := t.threshold(kind); len(who) < want {
		return nil, refuse(ThresholdShort, "signed by %d of the signers, %d required", len(who), want)
	}
	if err := decode(payload, doc); err != nil {
		return nil, err
	}
	if env := doc.Head().Environment; env != t.Environment {
		return nil, refuse(WrongEnvironment, "for the environment %q, this node is in %q", env, t.Environment)
	}
	return who, nil
}

// Read decodes a document without verifying it, for display.
func Read(text []byte, doc Document) error {
	payload, _, err := split(text)
	if err != nil {
		return err
	}
	return decode(payload, doc)
}

// Keys returns the fingerprints of the keys that have signed a document. All signatures hold, but
// whose keys these are is not known: anybody may have made them.
func Keys(text []byte, kind Kind) (fingerprints []string, err error) {
	payload, signatures, err := split(text)
	if err != nil {
		return nil, err
	}
	for _, signature := range signatures {
		key, err := signers.KeyOf(bytes.NewReader(payload), signature, kind.Namespace)
		if err != nil {
			return nil, &RefusedError{SignatureRefused, err}
		}
		fingerprints = append(fingerprints, key)
	}
	return fingerprints, nil
}

func (t *Trust) threshold(k Kind) int {
	if k == KindRelease || k == KindSigners {
		return max(t.Threshold, 1)
	}
	return 1
}

// verify returns the signers of a payload, each once. One invalid signature makes it fail.
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

// split splits a document into the payload and the signatures.
func split(text []byte) (payload []byte, signatures [][]byte, err error) {
	if len(text) > MaxSize {
		return nil, nil, refuse(Malformed, "%d bytes, the limit is %d", len(text), MaxSize)
	}
	at := bytes.Index(text, []byte("\n"+armorBegin))
	if at < 0 {
		return nil, nil, refuse(Malformed, "no signature")
	}
	payload, rest := text[:at+1], text[at+1:]
	for len(rest) > 0 {
		end := bytes.Index(rest, []byte(armorEnd))
		if !bytes.HasPrefix(rest, []byte(armorBegin+"\n")) || end < 0 {
			return nil, nil, refuse(Malformed, "text after the signatures, or an unterminated signature")
		}
		if len(signatures) == maxSignatures {
			return nil, nil, refuse(Malformed, "more than %d signatures", maxSignatures)
		}
		end += len(armorEnd)
		signatures, rest = append(signatures, rest[:end]), rest[end:]
	}
	return payload, signatures, nil
}

// Payload returns the signed part of a document.
func Payload(text []byte) ([]byte, error) {
	payload, _, err := split(text)
	return payload, err
}

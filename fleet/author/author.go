// Package author tells operators who has signed the documents on the servers. Nodes check that
// themselves. But what operators sign next follows from what they read: servers that were stolen
// must not choose the bundle of a rollback.
//
// Begin with [Open] and [Book.Look].
package author

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/signers"
)

// A Book names the signers whom an operator believes in an environment. It has them from files of
// the operator, never from the servers alone.
type Book struct {
	environment string
	archive     string // folder of the documents that were made here
	periods     []trustPeriod
	now         func() time.Time
	// version and signers are those of the document that has named the signers of the last period; 0 and
	// nil if it was the file.
	version int64
	signers []byte
}

// A trustPeriod has signers, whose documents count that were made until a time; zero for no limit.
type trustPeriod struct {
	signed.Trust
	until time.Time
}

// Open reads the book for an environment from a file in the format of allowed_signers, which may be
// missing, and from the folder of the documents that were made here. Signers that were replaced here
// replace those of the file.
func Open(file, archive, environment string, now func() time.Time) (*Book, error) {
	b := &Book{environment: environment, archive: archive, now: now}
	text, err := os.ReadFile(file)
	if err == nil {
		err = b.add(file, string(text), 1)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	text, name, err := Newest(archive, signersKind)
	if err != nil || text == nil {
		return b, err
	}
	s := new(signed.Signers)
	if err := signed.Read(text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, b.replace(name, text, s)
}

// replace adds the signers of a document. Those before them count for what was made until then.
func (b *Book) replace(name string, text []byte, s *signed.Signers) error {
	before := len(b.periods)
	if err := b.add(name, s.Signers, s.Threshold); err != nil {
		return err
	}
	for i := range b.periods[:before] {
		if p := &b.periods[i]; p.until.IsZero() {
			p.until = s.CreateTime
		}
	}
	b.version, b.signers = s.Version, text
	return nil
}

func (b *Book) add(file, text string, threshold int) error {
	list, err := signers.Parse(file, text)
	if err != nil {
		return err
	}
	b.periods = append(b.periods, trustPeriod{Trust: signed.Trust{Environment: b.environment, Signers: list, Threshold: threshold}})
	return nil
}

// IsEmpty reports whether the operator has not declared who is trusted.
func (b *Book) IsEmpty() bool { return len(b.periods) == 0 }

// An Authorship describes who has signed a document.
type Authorship struct {
	Signers []Signer `json:"signed_by,omitempty"`
	// Verified is true if the operator believes enough of the signers.
	Verified bool `json:"verified"`
	// Doubt is why it is not.
	Doubt string `json:"not_verified,omitempty"`
	// Forged is true if no node obeys the document, whoever it believes.
	Forged bool `json:"-"`
}

// A Signer is the holder of a key. Name is empty if the operator does not know it.
type Signer struct {
	Name string `json:"name,omitempty"`
	Key  string `json:"key"` // fingerprint
}

// String returns the name, or else the key.
func (s Signer) String() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Key
}

// Names returns the signers as text.
func (a Authorship) Names() string {
	var names []string
	for _, s := range a.Signers {
		names = append(names, s.String())
	}
	return strings.Join(names, ", ")
}

// errUnknown is the reason if the operator has not said who is believed.
var errUnknown = diag.None("trusted signers are known here")

// Look decodes a document and checks who has signed it. Signers may have signed it at the time
// when it was made: the documents of a fleet outlive keys.
func (b *Book) Look(text []byte, doc signed.Document) Authorship {
	a := Authorship{}
	keys, err := signed.Keys(text, doc.Kind())
	if err == nil {
		err = signed.Read(text, doc)
	}
	if err == nil && doc.Head().Environment != b.environment {
		err = diag.Expected("a signature for the environment %s", b.environment).Got("one for %s", doc.Head().Environment)
	}
	if err != nil {
		a.Doubt, a.Forged = err.Error(), true
		return a
	}
	for _, key := range keys {
		a.Signers = append(a.Signers, Signer{Key: key})
	}
	reason := errUnknown
	for _, t := range b.periods {
		if !t.until.IsZero() && doc.Head().CreateTime.After(t.until) {
			continue
		}
		for _, at := range []time.Time{b.now(), doc.Head().CreateTime} {
			who, err := t.Trust.Open(text, at, doc)
			if err != nil {
				reason = err
				continue
			}
			a.Signers = nil
			for _, s := range who {
				a.Signers = append(a.Signers, Signer{s.Principal, s.Fingerprint})
			}
			a.Verified = true
			return a
		}
	}
	if b.wasMadeHere(text, doc) {
		a.Verified = true
		return a
	}
	a.Doubt = reason.Error()
	return a
}

// Recognizes returns an error unless each key that has signed a document made here belongs to a signer whom the operator
// believes now: nodes would refuse the document, and later commands too. Without a book it recognizes every key.
func (b *Book) Recognizes(text []byte, doc signed.Document) error {
	if b == nil || b.IsEmpty() {
		return nil
	}
	trust := b.periods[len(b.periods)-1].Trust
	keys, err := signed.Keys(text, doc.Kind())
	if err != nil {
		return err
	}
	trust.Threshold = len(keys)
	if _, err := trust.Open(text, b.now(), doc); err != nil {
		return fmt.Errorf("nodes of %s would refuse this: %w (sign with a key listed in allowed_signers of the fleet directory: --sign FILE)", b.environment, err)
	}
	return nil
}

// Believes reports whether what an operator does may follow from a document. Without a book that is
// each one that somebody has signed.
func (b *Book) Believes(a Authorship) bool { return a.Verified || b.IsEmpty() && !a.Forged }

// Take believes the signers of a document on the servers, if those in the book have signed it. As
// for nodes, they replace the others, who count for what was made before, and versions only grow:
// servers that were stolen must not bring signers back that were replaced here.
func (b *Book) Take(text []byte) Authorship {
	s := new(signed.Signers)
	a := b.Look(text, s)
	switch {
	case !a.Verified || b.IsEmpty() || bytes.Equal(text, b.signers):
	case s.Version < b.version:
		a.Verified, a.Doubt = false, fmt.Sprintf("version %d is older than version %d, which was seen here before", s.Version, b.version)
	default:
		if err := b.replace("the signers on the servers", text, s); err != nil { // no node obeys it
			a.Verified, a.Doubt, a.Forged = false, err.Error(), true
		}
	}
	return a
}

// The kinds of documents in an archive, as suffixes of files.
const signersKind = "signers"

// kindName returns the suffix of the files of a kind of document in an archive, and the version of
// a document; "" if it is not archived.
func kindName(doc signed.Document) (kind string, version int64) {
	switch d := doc.(type) {
	case *signed.Release:
		return "release", d.Version
	case *signed.Rollout:
		return "rollout", d.Version
	case *signed.Signers:
		return signersKind, d.Version
	}
	return "", 0
}

// wasMadeHere reports whether the archive has the same document.
func (b *Book) wasMadeHere(text []byte, doc signed.Document) bool {
	kind, version := kindName(doc)
	if kind == "" || b.archive == "" {
		return false
	}
	have, err := os.ReadFile(filepath.Join(b.archive, FileName(kind, version)))
	return err == nil && bytes.Equal(have, text)
}

// Highest returns the highest version of a document of the same kind that was made here, 0 for none:
// nodes may have seen it although the servers have lost it.
func (b *Book) Highest(doc signed.Document) int64 {
	if b == nil {
		return 0
	}
	kind, _ := kindName(doc)
	version, _ := highest(b.archive, kind)
	return version
}

// FileName returns the name of a document in an archive.
func FileName(kind string, version int64) string { return fmt.Sprintf("%06d.%s", version, kind) }

// Newest returns the newest document of a kind in the folder of an archive, and its path; nil if
// there is none.
func Newest(archive, kind string) (text []byte, file string, err error) {
	version, err := highest(archive, kind)
	if err != nil || version == 0 {
		return nil, "", err
	}
	file = filepath.Join(archive, FileName(kind, version))
	text, err = os.ReadFile(file)
	return text, file, err
}

func highest(archive, kind string) (version int64, err error) {
	entries, err := os.ReadDir(archive)
	if errors.Is(err, fs.ErrNotExist) || archive == "" {
		return 0, nil
	}
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), "."+kind)
		if v, err := strconv.ParseInt(digits, 10, 64); ok && err == nil {
			version = max(version, v)
		}
	}
	return version, err
}

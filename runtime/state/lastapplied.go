package state

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// A lastApplied holds fingerprints of the desired state of a resource when it was last in order
// (what kubectl calls last-applied).
type lastApplied struct {
	id string
	// spec is the fingerprint of the type's properties, whole that of the whole declaration.
	spec, whole uint64
	// digest is the part of the desired state that comes from a source or template
	// (resource.DesiredDigester).
	digest resource.DesiredDigest
	// made says that a run created the thing.
	made bool
}

// append appends w to b as a line of the file, without newline. The stat data of a source follow
// its digest.
func (w lastApplied) append(b []byte) []byte {
	b = append(appendSum(b, w.spec), ' ')
	b = append(appendSum(b, w.whole), ' ')
	b = strconv.AppendQuote(b, w.digest.Text)
	if w.digest.Stat != "" {
		b = strconv.AppendQuote(append(b, statSign...), string(w.digest.Stat))
	}
	b = append(b, ' ')
	if w.made {
		b = append(b, madeSign)
	}
	return strconv.AppendQuote(b, w.id)
}

const (
	statSign = "@" // stands before stat data
	madeSign = '+' // stands before the ID of a thing that a run created
)

// appendSum appends a fingerprint as 16 digits.
func appendSum(b []byte, sum uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[sum>>shift&15])
	}
	return b
}

// parseLastApplied is the inverse of append. The result refers to line.
func parseLastApplied(line string) (w lastApplied, err error) {
	var errs [5]error
	w.spec, line, errs[0] = cutSum(line)
	w.whole, line, errs[1] = cutSum(line)
	w.digest.Text, line, errs[2] = unquoted(line)
	if marked, ok := strings.CutPrefix(line, statSign); ok {
		var mark string
		mark, line, errs[3] = unquoted(marked)
		w.digest.Stat = resource.SourceStat(mark)
	}
	line = strings.TrimPrefix(line, " ")
	if w.made = strings.HasPrefix(line, string(madeSign)); w.made {
		line = line[1:]
	}
	w.id, line, errs[4] = unquoted(line)
	if errs == [5]error{} && line == "" {
		return w, nil
	}
	return w, errors.Join(diag.Not("", "a line of this file"), errors.Join(errs[:]...))
}

// cutSum returns the fingerprint at the beginning of line, and the rest behind the blank.
func cutSum(line string) (sum uint64, rest string, err error) {
	if len(line) < 17 || line[16] != ' ' {
		return 0, line, diag.Expected("a fingerprint of 16 digits")
	}
	for i := range 16 {
		c := line[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, line, diag.Expected("a fingerprint in hexadecimal")
		}
		sum = sum<<4 | uint64(c)
	}
	return sum, line[17:], nil
}

// unquoted returns the quoted text at the beginning of line, and the rest.
func unquoted(line string) (text, rest string, err error) {
	if len(line) > 0 && line[0] == '"' {
		text, rest, found := strings.Cut(line[1:], `"`)
		if found && strings.IndexByte(text, '\\') < 0 {
			return text, rest, nil // the usual case
		}
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", line, err
	}
	text, err = strconv.Unquote(quoted)
	return text, line[len(quoted):], err
}

// DesiredDigests returns a function that returns the recorded digest of a resource in an applied
// catalog, the zero digest if there is none.
func (s *Store) DesiredDigests(a AppliedHeader) func(r *resource.Resource) resource.DesiredDigest {
	past := &appliedRecord{s: s, site: a.Site, root: a.Root, readOnly: true}
	lazy := sync.OnceValue(func() map[string]bool {
		list := make(map[string]bool)
		type entry struct {
			ID   Name `json:"id"`
			Lazy bool `json:"lazy"`
		}
		_ = eachLine(s, a.name+catalogSuffix, func(d entry) { // the reader of the catalog reports the error
			if d.Lazy {
				list[string(d.ID)] = true
			}
		})
		return list
	})
	key := &resource.DigestKey{Digest: s.desiredDigest}
	return func(r *resource.Resource) resource.DesiredDigest {
		past.load()
		id := r.ID.String()
		w, _ := past.last.find(id)
		found := splitLazyValues(w.digest, lazy()[id])
		found.LazyValues, found.Key = "", key
		return found
	}
}

// withLazyValues returns a digest in its recorded form: the fingerprint of the lazy values
// follows the text.
func withLazyValues(t resource.DesiredDigest) resource.DesiredDigest {
	t.Text, t.LazyValues = t.Text+t.LazyValues, ""
	return t
}

// splitLazyValues is the inverse of withLazyValues. Lazy says that the resource has lazy values.
func splitLazyValues(t resource.DesiredDigest, lazy bool) resource.DesiredDigest {
	if lazy {
		at := max(0, len(t.Text)-16)
		t.Text, t.LazyValues = t.Text[:at], t.Text[at:]
	}
	return t
}

// withFingerprint returns the digest to record for a stable resource whose lazy values have the
// fingerprint now. It is the earlier digest, if that has the same fingerprint.
func withFingerprint(found resource.DesiredDigest, now uint64) resource.DesiredDigest {
	text := fmt.Sprintf("%016x", now)
	if strings.HasSuffix(found.Text, text) {
		return found
	}
	return resource.DesiredDigest{Text: text}
}

// mergedDigest merges the digest with the recorded one. A state may have no digest, or only stat
// data, if nothing had to be read.
func (w lastApplied) mergedDigest(before lastApplied, lazy bool) resource.DesiredDigest {
	if w.digest == (resource.DesiredDigest{}) {
		if w.spec == before.spec {
			return before.digest
		}
		return w.digest
	}
	now, then := splitLazyValues(w.digest, lazy), splitLazyValues(before.digest, lazy)
	if now.Text != "" || then.Text == "" || now.LazyValues != then.LazyValues {
		return w.digest
	}
	switch same, known := now.Stat.Same(then.Stat); {
	case known && same:
		now.Text = then.Text
	case !known && w.spec == before.spec:
		now = then
	}
	return withLazyValues(now)
}

// sameDesired reports whether the digest now means the same desired state as the recorded digest
// old. In doubt it is true.
func (a *appliedRecord) sameDesired(r *resource.Resource, old, now resource.DesiredDigest, text func() string) bool {
	if old == (resource.DesiredDigest{}) || now == (resource.DesiredDigest{}) {
		return true
	}
	lazy := len(r.LazyProperties) > 0
	if a.mayHoldSecrets(r) {
		if now.Text == "" {
			now.Text = text()
		}
		if splitLazyValues(a.keyed(r, withLazyValues(now)), lazy).Same(splitLazyValues(old, lazy), text) {
			return true
		}
	}
	return now.Same(splitLazyValues(old, lazy), text)
}

// Cause is [RecordWriter.Cause] for plans: it writes nothing.
func (s *Store) Cause(site, file, root string) func(r *resource.Resource, desired resource.DesiredDigest, text func() string) event.Cause {
	a := &appliedRecord{s: s, site: site, file: file, root: root, readOnly: true}
	return a.cause
}

// fingerprint returns the fingerprint of the properties of a resource, and that of its whole
// declaration. If the resource may hold secrets, they are keyed: a weak secret could be guessed
// from a plain fingerprint.
func (a *appliedRecord) fingerprint(r *resource.Resource) (spec, all uint64) {
	spec, all = fingerprint(r)
	if len(r.Sensitive) > 0 {
		return a.keyedNumber(spec), a.keyedNumber(all)
	}
	return spec, all
}

// fingerprints are the two fingerprints of one resource.
type fingerprints struct{ spec, whole uint64 }

// fingerprints returns the fingerprints of many resources.
func (a *appliedRecord) fingerprints(list []*resource.Resource) []fingerprints {
	const part = 1024
	sums := make([]fingerprints, len(list))
	var parts sync.WaitGroup
	for from := 0; from < len(list); from += part {
		to := min(from+part, len(list))
		parts.Go(func() {
			for i, r := range list[from:to] {
				sums[from+i].spec, sums[from+i].whole = a.fingerprint(r)
			}
		})
	}
	parts.Wait()
	return sums
}

func (a *appliedRecord) keyedNumber(n uint64) uint64 {
	sum, _ := strconv.ParseUint(a.s.secrets.Digest("fingerprint", strconv.FormatUint(n, 16))[:16], 16, 64)
	return sum
}

// keyed returns a digest that is keyed like a fingerprint. It has no stat data, which would
// reveal the size of a secret.
func (a *appliedRecord) keyed(r *resource.Resource, found resource.DesiredDigest) resource.DesiredDigest {
	switch {
	case !a.mayHoldSecrets(r):
		return found
	case found.Text == "":
		return resource.DesiredDigest{}
	}
	return resource.DesiredDigest{Text: a.s.keyedText(found.Text)}
}

// mayHoldSecrets reports whether the desired state of a resource may hold secrets. A resource
// that depends on data renders it only when its turn comes, and secrets in it may have been
// decrypted only then.
func (a *appliedRecord) mayHoldSecrets(r *resource.Resource) bool {
	return len(r.Sensitive) > 0 || a.s.secrets.Any() && resource.TraitsOf(r.Spec).DependsOnData
}

// keyedText returns the text of a digest without anything that others could guess from it. In a
// list of files each digest is keyed by itself, so that a single file can be compared with it.
// The text behind the last line is keyed too.
func (s *Store) keyedText(text string) string {
	at := strings.LastIndexByte(text, '\n') + 1
	if at == 0 {
		return s.desiredDigest(text)
	}
	var b strings.Builder
	for line := range strings.Lines(text[:at]) {
		words := strings.SplitN(line, " ", 3)
		if len(words) == 3 && len(words[1]) == 2*sha256.Size {
			words[1] = s.desiredDigest(words[1])
		}
		b.WriteString(strings.Join(words, " "))
	}
	if end := text[at:]; end != "" {
		b.WriteString(s.desiredDigest(end)[:min(len(end), 2*sha256.Size)])
	}
	return b.String()
}

// desiredDigest returns the keyed digest of the text of a digest.
func (s *Store) desiredDigest(text string) string { return s.secrets.Digest("wish", text) }

func fingerprint(r *resource.Resource) (spec, all uint64) {
	spec = r.Type.Schema().Fingerprint(r.Spec)
	var common uint64
	if r.Common != resource.EmptyCommon {
		common = resource.CommonSchema().Fingerprint(r.Common)
	}
	all = schema.CombineHash(spec, common)
	return spec, schema.CombineHashString(schema.CombineHashString(all, r.ID.Type), r.ID.Name)
}

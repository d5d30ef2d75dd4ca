// Package registration has the entries of the service registry: what a service says of itself in
// NATS, so that other machines find it. Subjects, headers and JSON are those of Choria CCM
// (model/registration.go and registration/subject.go of github.com/choria-io/ccm), so that both
// share one registry.
//
// Begin with [Entry]. What comes from the network is read by [Decode] and nothing else.
package registration

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// Prefix is what the subjects of all entries begin with.
const Prefix = "choria.ccm.registration.v1"

// DefaultStream is the name of the stream that keeps entries if no other is given.
const DefaultStream = "REGISTRATION"

// MaxSize is how many bytes the JSON of an entry may have.
const MaxSize = 64 << 10

// An Entry is one address at which a service is offered. Templates read its fields by their names
// in Go.
type Entry struct {
	Cluster  string `json:"cluster"`
	Service  string `json:"service"`
	Protocol string `json:"protocol"`
	// Address is an IP address or the name of a host.
	Address string `json:"address"`
	// Port is an int64, or nil for none.
	Port any `json:"port"`
	// Priority is from 1 to 255. The lower, the better.
	Priority    int64             `json:"priority"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// TTL is how long the entry holds, nil for as long as the stream keeps it.
	TTL *TTL `json:"ttl,omitempty"`
}

// A FieldError is a mistake in one field of an entry.
type FieldError struct {
	// Field is its name in JSON.
	Field string
	Err   error
}

// Error says what is wrong with the field.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the error without the name of the field.
func (e *FieldError) Unwrap() error { return e.Err }

// Check returns what is wrong with the entry: a *FieldError, or several that are joined.
func (e *Entry) Check() error {
	var errs []error
	wrong := func(field, format string, args ...any) {
		errs = append(errs, &FieldError{field, fmt.Errorf(format, args...)})
	}
	for _, x := range []struct{ field, name string }{{"cluster", e.Cluster}, {"service", e.Service}, {"protocol", e.Protocol}} {
		if !isName(x.name) {
			wrong(x.field, "want a name of letters, digits, - and _ that begins with a letter, got %q", x.name)
		}
	}
	if !isAddress(e.Address) {
		wrong("address", "want an IP address or the name of a host, got %q", e.Address)
	}
	switch port := e.Port.(type) {
	case nil:
	case int64:
		if port < 1 || port > math.MaxUint16 {
			wrong("port", "want a number from 1 to 65535, got %d", port)
		}
	default:
		wrong("port", "want a number from 1 to 65535, got %v", port)
	}
	if e.Priority < 1 || e.Priority > math.MaxUint8 {
		wrong("priority", "want a number from 1 to 255, got %d", e.Priority)
	}
	if err := e.TTL.check(); err != nil {
		wrong("ttl", "%w", err)
	}
	return errors.Join(errs...)
}

// isName reports whether a text can be the name of a cluster, service or protocol.
func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '_' && c != '-') {
			return false
		}
	}
	return s != ""
}

// isAddress reports whether a text is an IP address without a zone, or the name of a host
// (RFC 1123, section 2.1).
func isAddress(s string) bool {
	if ip, err := netip.ParseAddr(s); err == nil {
		return ip.Zone() == ""
	}
	labels := strings.Split(s, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || strings.ContainsFunc(label, notInHostName) {
			return false
		}
	}
	_, err := strconv.ParseUint(labels[len(labels)-1], 10, 64)
	return len(s) <= 253 && err != nil // what ends in a number is a mistyped IP address
}

func notInHostName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
}

// String names the entry for people: production/http/web at 10.0.0.5:80.
func (e *Entry) String() string {
	at := e.Address
	if port, ok := e.Port.(int64); ok {
		at = joinPort(e.Address, port)
	}
	return fmt.Sprintf("%s/%s/%s at %s", e.Cluster, e.Protocol, e.Service, at)
}

// Instance returns the last part of the subject, which tells entries with the same address
// apart: the FNV-64a hash of the rest and the port.
func (e *Entry) Instance() string {
	h := fnv.New64a()
	for _, text := range []string{e.Cluster, e.Service, e.Protocol, e.Address, fmt.Sprintf("%d", e.Port)} { // without a port it is %!d(<nil>), there as here
		_, _ = h.Write([]byte(text))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Subject returns the subject on which the entry is published.
func (e *Entry) Subject() string {
	return strings.Join([]string{Prefix, e.Cluster, e.Protocol, e.Service, addressToken(e.Address), e.Instance()}, ".")
}

// addressToken returns an address as one part of a subject.
func addressToken(address string) string { return strings.ReplaceAll(address, ".", "_") }

// A Query says which entries are meant. "" and * stand for any.
type Query struct{ Cluster, Protocol, Service, Address string }

// Check returns what is wrong with the query.
func (q Query) Check() error {
	for _, x := range []struct{ field, name string }{{"cluster", q.Cluster}, {"protocol", q.Protocol}, {"service", q.Service}} {
		if !isAny(x.name) && !isName(x.name) {
			return &FieldError{x.field, fmt.Errorf("want a name of letters, digits, - and _, or * for any, got %q", x.name)}
		}
	}
	if !isAny(q.Address) && !isAddress(q.Address) {
		return &FieldError{"address", fmt.Errorf("want an IP address, the name of a host, or * for any, got %q", q.Address)}
	}
	return nil
}

func isAny(s string) bool { return s == "" || s == "*" }

// Filter returns the subjects of the entries that are meant.
func (q Query) Filter() string {
	parts := []string{Prefix}
	for _, s := range []string{q.Cluster, q.Protocol, q.Service, addressToken(q.Address), "*"} {
		if isAny(s) {
			s = "*"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ".")
}

// Decode reads the entry that was published on a subject. It has to be one that could be
// published there: who may publish what is a matter of subjects.
func Decode(subject string, text []byte) (*Entry, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s: an entry has at most %d bytes, this one has %d", subject, MaxSize, len(text))
	}
	var e Entry
	wire := struct {
		*Entry
		Port *int64 `json:"port"`
	}{Entry: &e}
	if err := json.Unmarshal(text, &wire); err != nil {
		return nil, fmt.Errorf("%s: this is no entry: %w", subject, err)
	}
	if wire.Port != nil {
		e.Port = *wire.Port
	}
	if e.TTL != nil && *e.TTL == (TTL{}) {
		e.TTL = nil
	}
	if err := e.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", subject, err)
	}
	if own := e.Subject(); subject[:max(strings.LastIndexByte(subject, '.'), 0)] != own[:strings.LastIndexByte(own, '.')] {
		return nil, fmt.Errorf("%s: the entry is another one: %s", subject, &e)
	}
	return &e, nil
}

// OfSubject returns what a subject says of an entry. An underscore in its address may have been
// a dot or an underscore; no host has underscores.
func OfSubject(subject string) (*Entry, error) {
	parts := strings.Split(strings.TrimPrefix(subject, Prefix+"."), ".")
	if len(parts) != 5 {
		return nil, fmt.Errorf("%s: this is no subject of an entry", subject)
	}
	return &Entry{Cluster: parts[0], Protocol: parts[1], Service: parts[2], Address: strings.ReplaceAll(parts[3], "_", ".")}, nil
}

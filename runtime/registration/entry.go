// Package registration has the entries of the service registry in NATS, where services announce their addresses to
// other machines. Subjects, headers and JSON are those of Choria CCM (model/registration.go and
// registration/subject.go of github.com/choria-io/ccm), so both can share one registry.
//
// Begin with [Entry]. Text from the network must be read with [Decode].
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

	"github.com/luaccm/ccm/runtime/diag"
)

// Prefix is the prefix of the subjects of all entries.
const Prefix = "choria.ccm.registration.v1"

// DefaultStream is the default name of the stream with the entries.
const DefaultStream = "REGISTRATION"

// MaxSize limits the JSON of an entry, in bytes.
const MaxSize = 64 << 10

// An Entry is one address of a service. Templates use its fields by their Go names.
type Entry struct {
	Cluster  string `json:"cluster"`
	Service  string `json:"service"`
	Protocol string `json:"protocol"`
	// Address is an IP address or a host name.
	Address string `json:"address"`
	// Port is an int64, or nil.
	Port any `json:"port"`
	// Priority is from 1 to 255. A lower number is preferred.
	Priority    int64             `json:"priority"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// TTL is the lifetime of the entry, nil for that of the stream.
	TTL *TTL `json:"ttl,omitempty"`
}

// A FieldError is a mistake in one field of an entry.
type FieldError struct {
	// Field is the name of the field in JSON.
	Field string
	Err   error
}

// Error names the field and the mistake.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the error without the name of the field.
func (e *FieldError) Unwrap() error { return e.Err }

// Check returns an error unless the entry is valid: a *FieldError, or several joined.
func (e *Entry) Check() error {
	var errs []error
	wrong := func(field, format string, args ...any) {
		errs = append(errs, &FieldError{field, fmt.Errorf(format, args...)})
	}
	for _, x := range []struct{ field, name string }{{"cluster", e.Cluster}, {"service", e.Service}, {"protocol", e.Protocol}} {
		if !isName(x.name) {
			wrong(x.field, "%w", diag.Expected("a name of letters, digits, - and _ that begins with a letter").Got("%q", x.name))
		}
	}
	if !isAddress(e.Address) {
		wrong("address", "%w", diag.Expected("an IP address or host name").Got("%q", e.Address))
	}
	switch port := e.Port.(type) {
	case nil:
	case int64:
		if port < 1 || port > math.MaxUint16 {
			wrong("port", "%w", diag.MustBe("1 to 65535").Got("%d", port))
		}
	default:
		wrong("port", "%w", diag.MustBe("1 to 65535").Got("%v", port))
	}
	if e.Priority < 1 || e.Priority > math.MaxUint8 {
		wrong("priority", "%w", diag.MustBe("1 to 255").Got("%d", e.Priority))
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

// isAddress reports whether a text is an IP address without a zone, or a host name (RFC 1123, section 2.1).
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
	return len(s) <= 253 && err != nil // a name whose last part is a number is a mistyped IP address
}

func notInHostName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
}

// String returns the entry for messages: production/http/web at 10.0.0.5:80.
func (e *Entry) String() string {
	at := e.Address
	if port, ok := e.Port.(int64); ok {
		at = joinPort(e.Address, port)
	}
	return fmt.Sprintf("%s/%s/%s at %s", e.Cluster, e.Protocol, e.Service, at)
}

// Instance returns the last token of the subject, which distinguishes entries with the same address: the FNV-64a hash
// of the other fields and the port.
func (e *Entry) Instance() string {
	h := fnv.New64a()
	for _, text := range []string{e.Cluster, e.Service, e.Protocol, e.Address, fmt.Sprintf("%d", e.Port)} { // a nil port becomes %!d(<nil>), as in Choria CCM
		_, _ = h.Write([]byte(text))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Subject returns the subject on which the entry is published.
func (e *Entry) Subject() string {
	return strings.Join([]string{Prefix, e.Cluster, e.Protocol, e.Service, addressToken(e.Address), e.Instance()}, ".")
}

// addressToken returns an address as a token of a subject.
func addressToken(address string) string { return strings.ReplaceAll(address, ".", "_") }

// A Query selects entries. "" and * match anything.
type Query struct{ Cluster, Protocol, Service, Address string }

// Check returns an error unless the query is valid.
func (q Query) Check() error {
	for _, x := range []struct{ field, name string }{{"cluster", q.Cluster}, {"protocol", q.Protocol}, {"service", q.Service}} {
		if !isAny(x.name) && !isName(x.name) {
			return &FieldError{x.field, diag.Expected("a name of letters, digits, - and _, or * for any").Got("%q", x.name)}
		}
	}
	if !isAny(q.Address) && !isAddress(q.Address) {
		return &FieldError{"address", diag.Expected("an IP address, host name, or * for any").Got("%q", q.Address)}
	}
	return nil
}

func isAny(s string) bool { return s == "" || s == "*" }

// Filter returns the subject filter for the selected entries.
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

// Decode reads an entry that was published on a subject. The subject must fit the entry, because permissions to
// publish are granted by subject.
func Decode(subject string, text []byte) (*Entry, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s: %w", subject, diag.Exceeds("entry", "%d bytes: %d", MaxSize, len(text)))
	}
	var e Entry
	wire := struct {
		*Entry
		Port *int64 `json:"port"`
	}{Entry: &e}
	if err := json.Unmarshal(text, &wire); err != nil {
		return nil, fmt.Errorf("%s: %w", subject, diag.Not("", "an entry: %w", err))
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
		return nil, fmt.Errorf("%s: %w", subject, diag.Mismatch("entry", "its subject: %s", &e))
	}
	return &e, nil
}

// OfSubject returns the fields of an entry that its subject has. An underscore in the address may represent a dot;
// host names have no underscores.
func OfSubject(subject string) (*Entry, error) {
	parts := strings.Split(strings.TrimPrefix(subject, Prefix+"."), ".")
	if len(parts) != 5 {
		return nil, fmt.Errorf("%s: %w", subject, diag.Not("", "a subject of an entry"))
	}
	return &Entry{Cluster: parts[0], Protocol: parts[1], Service: parts[2], Address: strings.ReplaceAll(parts[3], "_", ".")}, nil
}

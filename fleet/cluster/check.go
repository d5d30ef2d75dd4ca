package cluster

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/bytesize"
)

// A Finding is a problem of the fleet's servers.
type Finding struct {
	Problem string `json:"what"`
	Hint    string `json:"hint,omitempty"`
}

// fullPercent is the use of a disk, and maxSkew the error of a clock, from which on it is a
// finding.
const (
	fullPercent = 80
	maxSkew     = 10 * time.Second
	endsSoon    = 90 * 24 * time.Hour
	manyRevoked = 5000
)

// Check looks at servers, streams, replicas, space, clocks and certificates. It also returns the
// servers that answer, by name; none for a person, who lacks a key to query them.
func (c *Cluster) Check(ctx context.Context, now func() time.Time) (servers []Server, findings []Finding, err error) {
	add := func(hint, format string, args ...any) {
		findings = append(findings, Finding{fmt.Sprintf(format, args...), hint})
	}
	d := c.Directory
	away := map[string]bool{}
	if d.CheckOrigin() != nil {
		// A person has no key to ask the servers with.
	} else if servers, err = Servers(ctx, d); err != nil {
		add("", "cannot query the servers: %s", err)
	} else {
		names := map[string]bool{}
		for _, s := range servers {
			names[s.Name] = true
			if s.JetStream.DiskMax == 0 {
				add("free disk space on that server, then: systemctl restart nats-server", "server %s: JetStream is disabled (a full disk does that)", s.Name)
			}
			if m := s.JetStream; m.DiskMax > 0 && m.DiskUsed*100 > m.DiskMax*fullPercent {
				add("use smaller sizes with ccm fleet init --apply, or a larger disk", "server %s: streams use %s of %s", s.Name, bytesize.Format(int64(m.DiskUsed)), bytesize.Format(int64(m.DiskMax)))
			}
			if skew := s.Now.Sub(now()); skew > maxSkew || skew < -maxSkew-s.Delay {
				add("synchronize the clocks", "server %s: clock is off by %s", s.Name, skew.Round(time.Second))
			}
		}
		c.checkAccount(ctx, add)
		for _, name := range d.Fleet.ServerNames() {
			if !names[name] {
				away[name] = true
				add("start it there with nats-server -c nats.conf; its log shows why it stopped", "server %s does not respond", name)
			}
		}
	}
	c.checkStreams(ctx, away, add)
	c.checkCertificates(now(), add)
	if revoked, err := d.Revoked(); err == nil && len(revoked) > manyRevoked {
		add("ccm fleet rekey", "%d keys are revoked; the servers limit the length of the list", len(revoked))
	}
	return servers, findings, nil
}

// checkAccount checks that the servers have the latest JWT of the account. Servers that lost
// their data start with the JWT in their configuration, which may be old.
func (c *Cluster) checkAccount(ctx context.Context, add func(hint, format string, args ...any)) {
	d := c.Directory
	hint := "ccm fleet init " + d.Path + " --apply"
	there, err := Account(ctx, d)
	if err != nil {
		add("", "account: %s", err)
		return
	}
	same, newer, forgotten, err := d.CompareAccount(there)
	switch {
	case err != nil:
		add(hint, "account: %s", err)
	case same:
	case forgotten > 0:
		add(hint+" uploads the current one", "the servers have an old account and accept keys that are revoked (%d)", forgotten)
	case newer:
		add(hint+" downloads the changes", "the servers have a newer account than this directory")
	default:
		add(hint+" uploads the current one", "the servers have an old account: keys or permissions differ from this directory")
	}
}

// checkStreams checks that each stream exists, has the planned configuration, and has all its
// replicas. Replicas of servers that do not answer at all are not reported again.
func (c *Cluster) checkStreams(ctx context.Context, away map[string]bool, add func(hint, format string, args ...any)) {
	var idle []string               // streams without a leader
	behind := map[string][]string{} // by server
	for _, want := range c.visibleStreams() {
		within, cancel := context.WithTimeout(ctx, Patience)
		change, info, err := c.look(within, want)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			add("", "%s: no answer within %s", want.Label, Patience)
			continue
		case err != nil:
			add("", "%s", err)
			continue
		case change != nil && change.New:
			add("ccm fleet init --apply", "%s is missing", want.Label)
			continue
		case change != nil:
			add("ccm fleet init --apply", "%s differs: %s", want.Label, strings.Join(change.Diff, ", "))
		}
		if limit := info.Config.MaxBytes; limit > 0 && info.State.Bytes*100 > uint64(limit)*fullPercent && info.Config.Discard != 0 {
			add("raise the sizes with ccm fleet init", "%s uses %s of %s", want.Label, bytesize.Format(int64(info.State.Bytes)), bytesize.Format(limit))
		}
		if info.Cluster == nil {
			continue
		}
		if info.Cluster.Leader == "" {
			idle = append(idle, want.Label)
			continue
		}
		for _, r := range info.Cluster.Replicas {
			switch {
			case away[r.Name]:
			case r.Offline:
				behind[r.Name] = append(behind[r.Name], want.Label)
			case !r.Current:
				behind[r.Name] = append(behind[r.Name], fmt.Sprintf("%s (%d behind)", want.Label, r.Lag))
			}
		}
	}
	if len(idle) > 0 {
		hint := "see the logs of the servers"
		if len(away) > 0 {
			hint = "more than half of the servers must run"
		}
		add(hint, "no leader, so nothing can be stored: %s", strings.Join(idle, ", "))
	}
	for _, server := range slices.Sorted(maps.Keys(behind)) {
		add("it catches up by itself; if not, see its log", "server %s is behind: %s", server, strings.Join(behind[server], ", "))
	}
}

// visibleStreams are the streams that the user of the directory may read: only those who enrol nodes may
// read requests.
func (c *Cluster) visibleStreams() []Stream {
	return slices.DeleteFunc(Streams(&c.Directory.Fleet), func(s Stream) bool {
		return s.Config.Name == subject.Enrolment && !c.Directory.Fleet.Role.Includes(identity.Admin)
	})
}

// checkCertificates reports when the authority and the certificates of the servers expire.
func (c *Cluster) checkCertificates(now time.Time, add func(hint, format string, args ...any)) {
	files := []string{c.Directory.CA()}
	for _, name := range c.Directory.Fleet.ServerNames() {
		files = append(files, c.Directory.Certificate(name))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a server's certificate is only where the fleet was made
		}
		block, _ := pem.Decode(text)
		if block == nil {
			add("", "%s: not a certificate", file)
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			add("", "%s: %s", file, err)
		case now.Add(endsSoon).After(cert.NotAfter):
			add("ccm fleet init renews the servers' certificates", "%s expires on %s", file, cert.NotAfter.Format(time.DateOnly))
		}
	}
}

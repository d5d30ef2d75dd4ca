package host

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"
)

// serverNameLimit is how long a plan waits for the resolver, all names together.
const serverNameLimit = 2 * time.Second

// serverNames asks the resolver for the names of servers, each once.
type serverNames struct {
	lookup func(ctx context.Context, name string) ([]string, error) // nil for the resolver of the operating system

	mu      sync.Mutex
	total   time.Duration // of all questions
	unknown map[string]bool
}

// isUnknown reports whether a name does not exist according to the resolver. Without an answer in time it is not unknown.
func (s *serverNames) isUnknown(ctx context.Context, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is, ok := s.unknown[name]; ok || s.total >= serverNameLimit {
		return is
	}
	ask := s.lookup
	if ask == nil {
		ask = net.DefaultResolver.LookupHost
	}
	ctx, cancel := context.WithTimeout(ctx, serverNameLimit-s.total)
	defer cancel()
	begun := time.Now()
	_, err := ask(ctx, name)
	s.total += time.Since(begun)
	answer, ok := errors.AsType[*net.DNSError](err)
	if s.unknown == nil {
		s.unknown = make(map[string]bool)
	}
	s.unknown[name] = ok && answer.IsNotFound
	return s.unknown[name]
}

// UnknownServer returns the name of the server of a URL, or of its proxy, if it does not exist according to the resolver of
// this machine; otherwise "". It asks only in a plan, and not if an earlier resource is going to change the files
// of the resolver.
func (v *View) UnknownServer(ctx context.Context, u *url.URL) string {
	if !v.IsPlan() || u == nil {
		return ""
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy != nil {
		u = proxy
	}
	name := u.Hostname()
	if _, err := netip.ParseAddr(name); err == nil || name == "" {
		return ""
	}
	for _, file := range []string{"/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf"} {
		if _, assumed := v.overlay.Assumed(file); assumed {
			return ""
		}
	}
	if !v.servers.isUnknown(ctx, name) {
		return ""
	}
	return name
}

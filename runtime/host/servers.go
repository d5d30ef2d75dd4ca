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

	"github.com/luaccm/ccm/runtime/host/fetch"
)

// serversLimit is how long a plan waits for the resolver and for servers, all questions together.
const serversLimit = 2 * time.Second

// servers has what a plan knows of the servers of its downloads. It asks each question once.
type servers struct {
	lookup func(ctx context.Context, name string) ([]string, error) // nil for the resolver of the operating system
	none   bool                                                     // asks nothing

	mu        sync.Mutex
	total     time.Duration        // of all questions
	unknown   map[string]bool      // by name
	downloads map[string]announced // by the path of the file on the machine
}

func newServers(o Options) *servers {
	return &servers{lookup: o.Lookup, none: o.AskNoServers, unknown: make(map[string]bool), downloads: make(map[string]announced)}
}

// An announced download is what its server answered about it.
type announced struct {
	size int64 // -1 if it is unknown
	err  error // the download is too large
}

// ask asks a question within what is left of the time.
func (s *servers) ask(ctx context.Context, question func(context.Context) error) error {
	if s.total >= serversLimit {
		return context.DeadlineExceeded
	}
	ctx, cancel := context.WithTimeout(ctx, serversLimit-s.total)
	defer cancel()
	begun := time.Now()
	err := question(ctx)
	s.total += time.Since(begun)
	return err
}

// isUnknown reports whether a name does not exist according to the resolver. Without an answer in time it is not unknown.
func (s *servers) isUnknown(ctx context.Context, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is, ok := s.unknown[name]; ok {
		return is
	}
	lookup := s.lookup
	if lookup == nil {
		lookup = net.DefaultResolver.LookupHost
	}
	answer, ok := errors.AsType[*net.DNSError](s.ask(ctx, func(ctx context.Context) error {
		_, err := lookup(ctx, name)
		return err
	}))
	s.unknown[name] = ok && answer.IsNotFound
	return s.unknown[name]
}

// announce asks for the size of a download to a path.
func (s *servers) announce(ctx context.Context, name string, d fetch.Request, t http.RoundTripper) announced {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.downloads[name]; ok {
		return a
	}
	a := announced{size: -1}
	_ = s.ask(ctx, func(ctx context.Context) error {
		x := fetch.New(ctx, d, d.Limit())
		defer x.Close()
		if err := x.Head(t); err != nil {
			return err // the run finds out
		}
		if a.size = x.Size; x.CheckSize() != nil {
			a.err = x.Failed(x.CheckSize())
		}
		return nil
	})
	s.downloads[name] = a
	return a
}

// mayAskServers reports whether v is the view of a plan that may ask servers: no earlier resource is going to change the
// files of the resolver.
func (v *View) mayAskServers() bool {
	if !v.IsPlan() || v.servers.none {
		return false
	}
	for _, file := range []string{"/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf"} {
		if _, assumed := v.overlay.Assumed(file); assumed {
			return false
		}
	}
	return true
}

// UnknownServer returns the name of the server of a URL, or of its proxy, if it does not exist according to the resolver of
// this machine; otherwise "". It asks only in a plan.
func (v *View) UnknownServer(ctx context.Context, u *url.URL) string {
	if u == nil || !v.mayAskServers() {
		return ""
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy != nil {
		u = proxy
	}
	name := u.Hostname()
	if _, err := netip.ParseAddr(name); err == nil || name == "" {
		return ""
	}
	if !v.servers.isUnknown(ctx, name) {
		return ""
	}
	return name
}

// AskSize asks a server, in a plan, for the size of a download to a path, so that [Obstacles] counts it. It returns the
// error of a download that is too large, and none if the server does not answer.
func (v *View) AskSize(ctx context.Context, name string, d fetch.Request) error {
	if !v.mayAskServers() {
		return nil
	}
	return v.servers.announce(ctx, name, d, v.transport()).err
}

// announcedSize returns what [View.AskSize] learned about the download to a path, -1 if nothing.
func (v *View) announcedSize(name string) int64 {
	v.servers.mu.Lock()
	defer v.servers.mu.Unlock()
	if a, ok := v.servers.downloads[name]; ok {
		return a.size
	}
	return -1
}

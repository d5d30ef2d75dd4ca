// Package web shows a fleet in the browser of an operator: the whole fleet, one node, the rollout
// of an environment, and one failure across nodes. It only reads.
//
// Begin with [Open].
package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/markup"
	"github.com/luaccm/ccm/runtime/report/part"
	"github.com/luaccm/ccm/studio/guard"
)

//go:embed assets
var assets embed.FS

// program is the command that prints the address.
const program = "ccm fleet serve"

// patience is the servers' time limit for one page.
const patience = 20 * time.Second

// A Server serves the pages of a fleet.
type Server struct {
	desk     *enrol.Desk
	listener net.Listener
	login    *guard.Login
	origin   string
}

// Open listens on an address of the loopback interface. origin is the page's origin in browsers,
// behind a proxy that keeps the Host of requests; "" for the address itself.
func Open(d *enrol.Desk, listen, origin string) (*Server, error) {
	if err := guard.CheckLoopback(listen); err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if origin != "" {
		parsed, err := guard.ParseOrigin(origin)
		if err != nil {
			return nil, fmt.Errorf("--origin: %w, got %q", err, origin)
		}
		origin = parsed
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	s := &Server{desk: d, listener: l, origin: origin}
	if s.origin == "" {
		s.origin = "http://" + l.Addr().String()
	}
	s.login = guard.NewLogin(program, l.Addr().String(), time.Now)
	s.login.Secure = strings.HasPrefix(s.origin, "https://")
	return s, nil
}

// Address returns the page's address with a new token, which is valid once, for two minutes.
func (s *Server) Address() string { return s.origin + "/#token=" + s.login.Issue() }

// Serve answers requests until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.Handle("POST /login", s.login)
	mux.HandleFunc("GET /api/page", s.page)
	mux.HandleFunc("GET /", static)
	server := guard.NewServer(&guard.Guard{Origin: s.origin, Login: s.login, Next: mux})
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return server.Close()
}

var kinds = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

// static answers with a file of the page.
func static(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	text, err := assets.ReadFile("assets" + name)
	if name == "/part.css" {
		text, err = []byte(part.Style()), nil
	}
	kind := kinds[path.Ext(name)]
	if err != nil || kind == "" {
		guard.Reply(w, http.StatusNotFound, guard.Refusal{Error: errUnknown.Error()})
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text) // the browser went away
}

// A view is a page.
type view struct {
	Title string          `json:"title"`
	Time  time.Time       `json:"time"`
	Body  *markup.Element `json:"body"`
}

// errUnknown says that a page does not exist.
var errUnknown = diag.NotFound("page", "", nil)

// page answers GET /api/page?page=NAME&a=...&b=...
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	q := r.URL.Query()
	title, body, err := s.draw(ctx, q.Get("page"), q.Get("a"), q.Get("b"))
	switch {
	case errors.Is(err, errUnknown), errors.Is(err, overview.ErrNoNode):
		guard.Reply(w, http.StatusNotFound, guard.Refusal{Error: err.Error()})
	case err != nil:
		guard.Reply(w, http.StatusBadGateway, guard.Refusal{Error: err.Error()})
	default:
		guard.Reply(w, http.StatusOK, view{title, s.desk.Now().UTC(), body})
	}
}

// draw makes a page.
func (s *Server) draw(ctx context.Context, page, a, b string) (string, *markup.Element, error) {
	switch page {
	case "node":
		body, err := s.node(ctx, a)
		return a, body, err
	case "overview", "release", "failure":
	default:
		return "", nil, errUnknown
	}
	fleet, err := overview.Read(ctx, s.desk, overview.Options{})
	if err != nil {
		return "", nil, err
	}
	switch page {
	case "release":
		for _, e := range fleet.Environments {
			if e.Name == a {
				return "release of " + a, rollout(&e), nil
			}
		}
		return "", nil, errUnknown
	case "failure":
		return a, failure(fleet, a, b), nil
	}
	return "overview", whole(fleet), nil
}

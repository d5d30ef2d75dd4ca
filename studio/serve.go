package studio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/state/statedir"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/studio/guard"
)

// Options are the options of a server.
type Options struct {
	Process *site.Process
	// Site has the options for reading texts.
	Site site.Options
	// StateDir is the state directory.
	StateDir string
	// Linter makes the linter of scripts; nil for none.
	Linter func() (*lint.Linter, error)
	// Program is ccm itself, for evaluations and plans.
	Program   string
	Directory string // of the site, absolute
	File      string // opened first, relative to Directory, or ""
	// Listen is an address of the loopback interface with a port; port 0 takes a free one.
	Listen string
}

// A Server serves the page of one directory.
type Server struct {
	options Options
	// Host is the address and port of the page.
	Host      string
	listener  net.Listener
	login     *guard.Login
	hub       *hub
	quit      func() // ends Serve
	quitOnce  sync.Once
	exit      chan struct{}   // closed by quit
	ctx       context.Context // for work that outlives requests
	end       func()
	directory *directory
	gate      *gate
	jobs      *jobs
	evaluator *evaluator
	workspace *workspace
	commands  *commands
	machine   *machine
}

// maxEvaluations is the most texts that are evaluated at once.
const maxEvaluations = 2

// Open opens the directory and listens. The directory and a named file must exist. Work for the
// pages ends with the context.
func Open(ctx context.Context, o Options) (_ *Server, err error) {
	if err := guard.CheckLoopback(o.Listen); err != nil {
		return nil, diag.Errorf(diag.Pos{}, "--listen: %w", err).
			WithHint("studio runs with your permissions; for remote access forward a port with ssh -L")
	}
	files := o.Process.Files
	if err := files.CheckState(o.StateDir); err != nil {
		return nil, err
	}
	if err := files.Trust().Check(o.Directory); err != nil {
		return nil, err
	}
	s := &Server{options: o, hub: newHub(), exit: make(chan struct{})}
	s.ctx, s.end = context.WithCancel(ctx)
	s.addParts(statedir.New(o.StateDir, nil, nil))
	s.quit = func() { s.quitOnce.Do(func() { close(s.exit) }) }
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.directory, err = openDirectory(o.Directory); err != nil {
		return nil, err
	}
	s.workspace.directory = s.directory
	if err = s.workspace.lock(); err != nil {
		return nil, err
	}
	if s.gate.trust, err = judgeDirectory(o.Directory, s.gate.state); err != nil {
		return nil, err
	}
	if s.listener, err = net.Listen("tcp", o.Listen); err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	s.Host = s.listener.Addr().String()
	s.login = guard.NewLogin("ccm studio", s.Host, time.Now)
	go words() // the first page does not wait for it
	return s, nil
}

// addParts adds the parts that answer requests.
func (s *Server) addParts(state *statedir.Dir) {
	o := s.options
	s.gate = &gate{state: state}
	s.jobs = &jobs{ctx: s.ctx, program: o.Program, directory: o.Directory, cancel: map[string]context.CancelFunc{}}
	s.evaluator = &evaluator{ctx: s.ctx, jobs: s.jobs, main: o.Process, site: o.Site, directory: o.Directory, linter: o.makeLinter}
	s.workspace = &workspace{
		ctx: s.ctx, state: state, gate: s.gate, evaluator: s.evaluator, hub: s.hub,
		documents: map[string]*document{}, evaluation: make(chan struct{}, maxEvaluations),
	}
	s.commands = &commands{jobs: s.jobs, workspace: s.workspace, hub: s.hub, stateDir: o.StateDir, insecure: o.Process.Files.AllowInsecure}
	s.machine = &machine{evaluator: s.evaluator, workspace: s.workspace}
}

// close closes all that Open has opened.
func (s *Server) close() {
	s.end()
	s.jobs.running.Wait()
	s.workspace.close()
	if s.listener != nil {
		_ = s.listener.Close()
	}
	if s.directory != nil {
		_ = s.directory.root.Close()
	}
}

// origin is the page's origin in browsers.
func (s *Server) origin() string { return "http://" + s.Host }

// Address returns the address to open. It is valid once, for two minutes, and ends the one before.
func (s *Server) Address() string { return s.origin() + "/#token=" + s.login.Issue() }

// OpenBrowser opens an address of Address in a browser, if there is one.
func (s *Server) OpenBrowser(address string, open func(file string) error) {
	guard.OpenBrowser("ccm studio", address, s.exit, open)
}

// A route is one kind of request with its handler.
type route struct {
	method, path string
	serve        http.HandlerFunc
}

// routes returns all routes.
func (s *Server) routes() []route {
	return []route{
		{http.MethodPost, "/login", s.login.ServeHTTP},
		{http.MethodGet, "/", serveStatic},
		{http.MethodGet, "/api/session", s.serveSession},
		{http.MethodGet, "/api/events", s.serveEvents},
		{http.MethodPost, "/api/trust", s.serveTrust},
		{http.MethodGet, "/api/types", s.serveTypes},
		{http.MethodGet, "/api/files", s.serveFiles},
		{http.MethodGet, "/api/state", s.serveState},
		{http.MethodPost, "/api/new", post(s.workspace.newFile)},
		{http.MethodPost, "/api/edit", post(s.workspace.edit)},
		{http.MethodPost, "/api/text", post(s.workspace.editText)},
		{http.MethodPost, "/api/undo", post(s.workspace.undo(false))},
		{http.MethodPost, "/api/redo", post(s.workspace.undo(true))},
		{http.MethodPost, "/api/save", post(s.workspace.save)},
		{http.MethodPost, "/api/plan", post(s.commands.plan)},
		{http.MethodPost, "/api/plan/cancel", post(s.jobs.end)},
		{http.MethodGet, "/api/graph", s.serveGraph},
		{http.MethodGet, "/api/complete", s.serveComplete},
		{http.MethodGet, "/api/facts", s.serveFacts},
		{http.MethodPost, "/api/facts", post(s.machine.keepProfile)},
		{http.MethodGet, "/api/data", s.serveState},
		{http.MethodPost, "/api/import", post(s.commands.imports)},
		{http.MethodPost, "/api/convert", post(s.workspace.convert)},
		{http.MethodPost, "/api/test", post(s.commands.test)},
		{http.MethodGet, "/api/runs", s.serveRuns},
		{http.MethodGet, "/api/runs/{id}", s.serveRun},
		{http.MethodPost, "/api/quit", s.serveQuit},
	}
}

// handler returns the handler of all requests.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		mux.HandleFunc(r.method+" "+r.path, r.serve)
	}
	known := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" {
			fail(w, http.StatusNotFound, Failure{Error: "there is nothing of that name for " + r.Method})
			return
		}
		mux.ServeHTTP(w, r)
	})
	return &guard.Guard{Origin: s.origin(), Login: s.login, Next: known}
}

// Serve answers requests until the context ends or the page requests it.
func (s *Server) Serve(ctx context.Context) error {
	server := guard.NewServer(s.handler())
	defer s.close()
	go s.workspace.watch(s.ctx)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	case <-s.exit:
	}
	s.quit()
	s.hub.close()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := server.Shutdown(within); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	_ = server.Close() // requests that are still open have had a second
	return nil
}

// serveQuit answers POST /api/quit.
func (s *Server) serveQuit(w http.ResponseWriter, r *http.Request) {
	var in struct{}
	if !guard.Decode(w, r, &in) {
		return
	}
	w.WriteHeader(http.StatusNoContent)
	s.quit()
}

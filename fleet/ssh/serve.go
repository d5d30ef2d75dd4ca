package ssh

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"slices"
	"sync"
	"syscall"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// A Server is the other side: the command ccm serve-stdio.
type Server struct {
	// Executable is this program, Version its version.
	Executable, Version string
	// Cache is the directory in which bundles are kept.
	Cache string
	// In and Out are the connection. When In ends, so does the command, after its present step.
	In  io.Reader
	Out io.Writer

	mu sync.Mutex // for Out
}

// passwordLines is the most lines before the request: the password for a sudo that did not ask for
// one.
const passwordLines = 1

// Serve answers one request.
func (s *Server) Serve(ctx context.Context) error {
	if err := s.write(hello{helloProtocol, s.Version}); err != nil {
		return err
	}
	in := bufio.NewReader(s.In)
	req, err := readRequest(in)
	if err == nil {
		err = s.prepare(req, in)
	}
	if err != nil {
		return s.write(frame{Refusal: err.Error()})
	}
	if len(req.Facts) > 0 {
		file, temporary, err := s.factsFile(req)
		if err != nil {
			return s.write(frame{Refusal: err.Error()})
		}
		if temporary {
			defer os.Remove(file)
		}
		req.Args = slices.Insert(req.Args, 1, "--facts", file)
	}
	code, err := s.run(ctx, in, req.Args)
	if err != nil {
		return s.write(frame{Refusal: err.Error()})
	}
	return s.write(frame{Exit: &code})
}

func (s *Server) write(object any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return writeLine(s.Out, object)
}

func readRequest(in *bufio.Reader) (req Request, err error) {
	for range passwordLines + 1 {
		line, err := readLine(in)
		if err != nil {
			return req, diag.None("request received: %w", err)
		}
		if !bytes.HasPrefix(line, []byte(`{"protocol":`)) {
			continue
		}
		if err := json.Unmarshal(line, &req); err != nil || req.Protocol != requestProtocol {
			break
		}
		if len(req.Args) == 0 {
			return req, diag.Lacks("the request", "a command")
		}
		return req, nil
	}
	return req, diag.Expected("a request of ccm ssh").Got("something else")
}

// siteName matches the valid names of a site, which are names of directories.
var siteName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)

// CheckSiteName returns why a name of a site is not valid.
func CheckSiteName(name string) error {
	if !siteName().MatchString(name) {
		return diag.Expected("a site name of letters, digits and . _ -").Got("%q", name)
	}
	return nil
}

// prepare fetches the bundle of the request if it is missing, and puts its path into the arguments.
func (s *Server) prepare(req Request, in io.Reader) error {
	b := req.Bundle
	if b == nil {
		return nil
	}
	if b.Arg < 1 || b.Arg >= len(req.Args) || b.Size < 0 || b.Size > bundle.DefaultLimits.PackedSize {
		return diag.Damaged("the request", nil)
	}
	if err := CheckSiteName(b.Site); err != nil {
		return err
	}
	dir := s.siteDir(b)
	file := filepath.Join(dir, "site.tar.gz")
	if sum, err := DigestOfFile(file); err != nil || sum != b.SHA256 {
		if err := s.fetch(in, dir, file, b); err != nil {
			return err
		}
	}
	req.Args[b.Arg] = file
	return nil
}

// fetch requests the bundle and stores it.
func (s *Server) fetch(in io.Reader, dir, file string, b *BundleRef) error {
	if err := s.write(frame{Want: true}); err != nil {
		return err
	}
	h := host.New(host.Options{})
	if err := os.MkdirAll(s.Cache, 0o700); err != nil {
		return err
	}
	if err := h.SaveDirectory(dir); err != nil {
		return err
	}
	if err := h.SaveFrom(file, &exactReader{io.LimitReader(in, b.Size), b.Size}, 0o600); err != nil {
		return diag.Cannot("store", "the bundle of the site", err)
	}
	sum, err := DigestOfFile(file)
	if err == nil && sum != b.SHA256 {
		err = fmt.Errorf("%s: %w", file, diag.Damaged("the file", diag.Expected("the SHA-256 %s", b.SHA256).Got("%s", sum)))
	}
	return err
}

// An exactReader fails if its source ends before all remaining bytes.
type exactReader struct {
	r         io.Reader
	remaining int64
}

func (x *exactReader) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	if x.remaining -= int64(n); err == io.EOF && x.remaining > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// DigestOfFile returns the SHA-256 of a file in hexadecimal.
func DigestOfFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return sha256sum.Reader(f)
}

// factsFile writes the facts of a request to a file that only this user may read. With a bundle the
// file is beside that, because its path is part of the site's identity. Its name has the machine's,
// since machines may share the directory.
func (s *Server) factsFile(req Request) (name string, temporary bool, err error) {
	text, err := json.Marshal(map[string]any{"inventory": req.Facts})
	if err != nil {
		return "", false, err
	}
	if req.Bundle != nil {
		machine, err := os.Hostname()
		if err != nil {
			return "", false, err
		}
		name = filepath.Join(s.siteDir(req.Bundle), "facts-"+sha256sum.Short(machine, 6)+".json")
		return name, false, host.New(host.Options{}).SaveFrom(name, bytes.NewReader(text), 0o600)
	}
	f, err := os.CreateTemp("", "ccm-facts-*.json") // with mode 0600
	if err != nil {
		return "", false, err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), true, err
}

// siteDir is the directory of a site's bundle.
func (s *Server) siteDir(b *BundleRef) string { return filepath.Join(s.Cache, "sites", b.Site) }

// run runs ccm, and sends each line of its output. When the connection ends ccm is asked to end.
func (s *Server) run(ctx context.Context, in io.Reader, args []string) (code int, err error) {
	cmd := exec.CommandContext(ctx, s.Executable, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // signals for this process are passed on once
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		select {
		case <-ended:
		default:
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}()
	var streams sync.WaitGroup
	streams.Go(func() { s.tell(stdout, func(line string) frame { return frame{Out: &line} }) })
	streams.Go(func() { s.tell(stderr, func(line string) frame { return frame{Err: &line} }) })
	streams.Wait()
	err = cmd.Wait()
	close(ended)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if code = exit.ExitCode(); code < 0 {
			return 0, fmt.Errorf("ccm was terminated: %w", exit)
		}
		return code, nil
	}
	return 0, err
}

// tell sends each line of a stream. After an error of sending it still reads all lines, so that the
// command can go on.
func (s *Server) tell(r io.Reader, of func(string) frame) {
	lines := bufio.NewReader(r)
	for {
		part, err := lines.ReadString('\n')
		if part != "" {
			_ = s.write(of(string(bytes.TrimSuffix([]byte(part), []byte("\n")))))
		}
		if err != nil {
			return
		}
	}
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/report"
)

// requestLine returns a request for file number i.
func requestLine(i int) string {
	return fmt.Sprintf(`{"protocol":%q,"type":"file","properties":{"name":"/file-%d","content":"number %[2]d\n","owner":"%d","group":"%d","mode":"0644"}}`,
		manifest.RequestProtocol, i, os.Geteuid(), os.Getegid())
}

// A pipe is a running ccm ensure api.
type pipe struct {
	t       testing.TB
	in      *io.PipeWriter
	answers *bufio.Scanner
	status  chan int
}

// newPipe starts ccm in this process, with its own root.
func newPipe(t testing.TB, args ...string) *pipe {
	t.Helper()
	t.Chdir(t.TempDir())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &pipe{t: t, in: inW, answers: bufio.NewScanner(outR), status: make(chan int, 1)}
	p.answers.Buffer(nil, 1<<20)
	e := newEnv(inR, outW, io.Discard, host.RealClock{})
	go func() {
		p.status <- run(t.Context(), e, append([]string{"ensure", "api", "pipe", "--stream", "--root", t.TempDir(), "--state-dir", t.TempDir()}, args...))
		outW.Close()
	}()
	return p
}

func (p *pipe) ask(line string) {
	_, err := io.WriteString(p.in, line+"\n")
	require.NoError(p.t, err)
}

func (p *pipe) answer() (r report.Response) {
	p.t.Helper()
	require.True(p.t, p.answers.Scan())
	require.NoError(p.t, json.Unmarshal(p.answers.Bytes(), &r))
	require.Equal(p.t, report.ResponseProtocol, r.Protocol)
	return r
}

// Every request is answered, in order, whether the program waits for each answer or not.
func TestStreamAnswersInOrder(t *testing.T) {
	const n = 200
	p := newPipe(t)
	for i := range n {
		p.ask(requestLine(i))
		r := p.answer()
		require.NotNil(t, r.State, r.Error)
		require.Equal(t, fmt.Sprintf("/file-%d", i), r.State.Name)
		require.Equal(t, "changed", r.State.Outcome)
	}
	go func() {
		var all strings.Builder
		for i := range n {
			all.WriteString(requestLine(i) + "\n")
			if i%10 == 0 {
				fmt.Fprintf(&all, "bad %d\n", i)
			}
		}
		_, _ = io.WriteString(p.in, all.String())
		p.in.Close()
	}()
	ids := map[string]bool{}
	for i := range n {
		r := p.answer()
		require.Equal(t, fmt.Sprintf("/file-%d", i), r.State.Name)
		require.Equal(t, "stable", r.State.Outcome)
		require.False(t, ids[r.State.EventID], "an event has a name of its own")
		ids[r.State.EventID] = true
		if i%10 == 0 {
			require.NotEmpty(t, p.answer().Error)
		}
	}
	require.False(t, p.answers.Scan())
	require.Equal(t, cli.ExitUsage, <-p.status)
}

// Between requests other processes can take the lock.
func TestStreamLetsOthersIn(t *testing.T) {
	state := t.TempDir()
	p := newPipe(t, "--state-dir", state)
	p.ask(requestLine(1))
	require.Equal(t, "changed", p.answer().State.Outcome)
	e := newEnv(strings.NewReader(""), io.Discard, io.Discard, host.RealClock{})
	require.Equal(t, cli.ExitOK, run(t.Context(), e, []string{"ensure", "exec", "true", "--state-dir", state, "--lock-timeout", "30s"}))
	p.ask(requestLine(1))
	require.Equal(t, "stable", p.answer().State.Outcome)
	p.in.Close()
	require.Equal(t, cli.ExitOK, <-p.status)
}

// The answers follow "ccm docs --schema response": a state or an error, and nothing else.
func TestAnswers(t *testing.T) {
	p := newPipe(t)
	for _, line := range []string{
		requestLine(1), "null", `{"protocol":"` + manifest.RequestProtocol + `","type":"exec","properties":{"name":"false"}}`,
		`{"protocol":"` + manifest.RequestProtocol + `","type":"exec","properties":{"name":"x","require":["exec#false"],"control":{"if":"true"}}}`,
	} {
		p.ask(line)
		require.True(t, p.answers.Scan())
		dec := json.NewDecoder(strings.NewReader(p.answers.Text()))
		dec.DisallowUnknownFields()
		var r report.Response
		require.NoError(t, dec.Decode(&r), p.answers.Text())
		require.Equal(t, report.ResponseProtocol, r.Protocol)
		require.NotEqual(t, r.State == nil, r.Error == "", p.answers.Text())
	}
	p.in.Close()
	require.Equal(t, cli.ExitFailed, <-p.status)
}

// BenchmarkStream is a request in a stream with nothing to do; compare with BenchmarkProcessEach.
func BenchmarkStream(b *testing.B) {
	p := newPipe(b)
	p.ask(requestLine(1))
	p.answer()
	for b.Loop() {
		p.ask(requestLine(1))
		p.answer()
	}
	p.in.Close()
	require.Equal(b, cli.ExitOK, <-p.status)
}

// BenchmarkProcessEach is a request in a process of its own.
func BenchmarkProcessEach(b *testing.B) {
	self, err := os.Executable()
	require.NoError(b, err)
	ccm := filepath.Join(b.TempDir(), "ccm") // the name under which TestMain runs ccm
	require.NoError(b, os.Symlink(self, ccm))
	b.Chdir(b.TempDir())
	root, state := b.TempDir(), b.TempDir()
	ask := func() {
		cmd := exec.Command(ccm, "ensure", "api", "pipe", "--root", root, "--state-dir", state)
		cmd.Stdin = strings.NewReader(requestLine(1))
		out, err := cmd.Output()
		require.NoError(b, err, "%s", out)
	}
	ask()
	for b.Loop() {
		ask()
	}
}

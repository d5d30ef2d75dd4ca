package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/session"
	"github.com/luaccm/ccm/runtime/trust"
)

// The protocols of requests and responses.
const (
	requestProtocol  = "io.choria.ccm.v1.resource.ensure.request"
	responseProtocol = "io.choria.ccm.v1.resource.ensure.response"
)

// A response is the answer to a request: what became of the resource, or why
// nothing was done.
type response struct {
	Protocol string        `json:"protocol"`
	State    *report.Event `json:"state,omitempty"`
	Error    string        `json:"error,omitempty"`
}

// apiFlags are the flags of the pipe.
type apiFlags struct {
	stream bool
	yaml   bool
	output *choice
}

func (e *env) apiCommand(f *singleFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "api", Short: "Bring resources in order for programs in other languages",
	}
	a := &apiFlags{output: newChoice("json", "json", "yaml")}
	pipe := &cobra.Command{
		Use: "pipe", Aliases: []string{"piped"},
		Short: "Read requests from standard input, and answer on standard output",
		Long: `Read a request from standard input, as JSON or YAML, bring the resource in order
and answer on standard output:

  {"protocol": "` + requestProtocol + `",
   "type": "file", "properties": {"name": "/etc/motd", "content": "hi\n", ...}}

With --stream every line is a request, in JSON, and is answered by a line, in
order. Such requests can refer to those before them, as in a session.

The answer has a state, which is an event as "ccm run --output json" prints it,
or an error. "ccm schema request" and "ccm schema response" print their schemas.

Exit status: 0 all is as wanted; 4 a resource failed; 1 a request was not one,
or nothing could be done about it.`,
		Args: wantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return e.pipe(cmd, f, a) },
	}
	fs := pipe.Flags()
	fs.BoolVar(&a.stream, "stream", false, "answer many requests, one JSON object a line")
	fs.Var(a.output, "output", "form of the answer: json or yaml")
	fs.BoolVar(&a.yaml, "yaml", false, "the same as --output yaml")
	_ = pipe.RegisterFlagCompletionFunc("output", a.output.complete)
	cmd.AddCommand(pipe)
	needCommand(cmd)
	return cmd
}

// pipe answers the requests on standard input.
func (e *env) pipe(cmd *cobra.Command, f *singleFlags, a *apiFlags) error {
	if a.yaml {
		a.output.value = "yaml"
	}
	if a.stream && a.output.value == "yaml" {
		return diag.Errorf(diag.Pos{}, "--stream answers in JSON, one object a line")
	}
	s, err := e.newSingle(cmd, f, "request", e.stderr)
	if err != nil {
		if !a.stream {
			_ = e.answer(a, response{Protocol: responseProtocol, Error: errorText(err)})
		}
		return err
	}
	if a.stream {
		return s.stream(cmd.Context())
	}
	ctx, cancel := e.untilStopped(cmd.Context())
	text, err := trust.ReadStream(ctx, e.stdin, stdin)
	err = e.ifStopped(ctx, err)
	cancel()
	if err != nil {
		return err
	}
	out, code := s.answer(cmd.Context(), func() (request, error) { return readRequest(text) })
	s.close()
	if err := e.answer(a, out); err != nil {
		return err
	}
	return code.err()
}

// answer prints one response.
func (e *env) answer(a *apiFlags, out response) error {
	if a.output.value == "yaml" {
		return e.printYAML(out)
	}
	return encoder(e.stdout, protocol()).Encode(out)
}

// pause is for how long a stream holds the lock without being asked anything.
const pause = 100 * time.Millisecond

// stream answers a request a line until standard input ends.
func (s *single) stream(ctx context.Context) error {
	if s.session == nil {
		s.session = session.Memory()
	}
	lines := make(chan []byte)
	var readErr error
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(s.env.stdin, 64<<10)
		for {
			line, err := r.ReadBytes('\n')
			if len(bytes.TrimSpace(line)) > 0 {
				lines <- line
			}
			if err != nil {
				if err != io.EOF {
					readErr = err
				}
				return
			}
		}
	}()
	enc := encoder(s.env.stdout, protocol())
	defer s.close()
	var all status
	for {
		select {
		case <-s.env.stop:
			return status(exitInterrupted)
		case <-time.After(pause):
			s.close() // so that others can have the lock
			continue
		case line, ok := <-lines:
			if !ok {
				if readErr != nil {
					return fmt.Errorf("standard input: %w", readErr)
				}
				return all.err()
			}
			out, code := s.answer(ctx, func() (request, error) { return readJSON(line) })
			if err := enc.Encode(out); err != nil {
				return fmt.Errorf("answer: %w", err)
			}
			switch {
			case code == exitInterrupted:
				return code
			case code == exitUsage && all&exitFailed == 0:
				all = exitUsage
			case code != exitUsage && code != exitOK:
				all = all&^exitUsage | code
			}
		}
	}
}

// err returns s as an error, nil if it is 0.
func (s status) err() error {
	if s == exitOK {
		return nil
	}
	return s
}

// answer reads a request and deals with it. Whatever goes wrong is the answer.
// What a request brings with it, such as the resources of a manifest, is told by
// the event of the resource itself.
func (s *single) answer(ctx context.Context, read func() (request, error)) (out response, code status) {
	out.Protocol = responseProtocol
	defer func() {
		if x := recover(); x != nil {
			s.host.Log().Error("a request broke ccm", "panic", x, "stack", string(debug.Stack()))
			out, code = response{Protocol: responseProtocol, Error: fmt.Sprintf("ccm is broken: %v", x)}, exitUsage
		}
	}()
	refuse := func(err error) (response, status) {
		out.Error = errorText(err)
		return out, exitUsage
	}
	req, err := read()
	if err != nil {
		return refuse(err)
	}
	what, err := req.single(s)
	if err != nil {
		return refuse(err)
	}
	d, err := s.converge(ctx, what, converge.Reporters{})
	if err != nil {
		return refuse(err)
	}
	out.State = new(report.EventOf(d.Events[len(d.Events)-1], d.ID, report.DiffMode(s.f.diff.value)))
	return out, d.status(s.f.detailed)
}

// errorText returns an error as the text of a response. The mistakes of one
// resource say which property they are in; their places are not told, because
// programs write requests, except where nothing else tells.
func errorText(err error) string {
	var list diag.List
	list.Add(err)
	more := len(list) - diag.MaxShown
	list = list[:min(len(list), diag.MaxShown)]
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Message()
		if e.Subject == "" && !e.Pos.IsZero() {
			lines[i] = e.Pos.String() + ": " + lines[i]
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more mistakes", more))
	}
	return strings.Join(lines, "\n")
}

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

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/session"
	"github.com/luaccm/ccm/site"
)

// apiFlags are the flags of the pipe.
type apiFlags struct {
	stream bool
	yaml   bool
	output *cli.Choice
}

func newAPICommand(e *cli.Env, f *oneOffFlags) *cobra.Command {
	a := &apiFlags{output: cli.NewChoice("json", "json", "yaml")}
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Apply a resource that another program describes in JSON",
		Long: `Read a request from standard input, as JSON or YAML, apply the resource, and write
a response to standard output:

  {"protocol": "` + manifest.RequestProtocol + `",
   "type": "file", "properties": {"name": "/etc/motd", "content": "hi\n", ...}}

With --stream, every input line is a JSON request, and every output line is its
response, in the same order. Requests can refer to earlier ones, as in a session.

A response has a state, which is an event as in "ccm run --output json", or an
error. "ccm docs --schema request" and "--schema response" print their schemas.

Exit status: 0 everything is up to date; 4 a resource failed; 1 a request was
invalid or could not be handled.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "pipe" || args[0] == "piped") { // as Choria's command has it
				return nil
			}
			return cli.WantArguments(0, 0)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return servePipe(e, cmd, f, a) },
	}
	fs := cmd.Flags()
	fs.BoolVar(&a.stream, "stream", false, "handle many requests, one JSON object per line")
	fs.Var(a.output, "output", "response format: json or yaml")
	fs.BoolVar(&a.yaml, "yaml", false, "same as --output yaml")
	return cmd
}

// servePipe answers the requests on standard input.
func servePipe(e *cli.Env, cmd *cobra.Command, f *oneOffFlags, a *apiFlags) error {
	if a.yaml {
		a.output.Value = "yaml"
	}
	if a.stream && a.output.Value == "yaml" {
		return diag.At(diag.Pos{}, diag.Requires("--stream", "--output json"))
	}
	x, err := newExchange(e, cmd, f, a.stream)
	if err != nil {
		if !a.stream {
			_ = writeAnswer(e, a, report.Response{Protocol: report.ResponseProtocol, Error: errorText(err)})
		}
		return err
	}
	if a.stream {
		return x.answerAll(cmd.Context())
	}
	_, text, err := e.ReadInput(cmd.Context(), "-")
	if err != nil {
		return err
	}
	out, code := x.answer(cmd.Context(), func() (manifest.Request, error) { return manifest.ReadRequest([]byte(text)) })
	x.oneOff.Close()
	if err := writeAnswer(e, a, out); err != nil {
		return err
	}
	return code.Err()
}

// writeAnswer prints one response.
func writeAnswer(e *cli.Env, a *apiFlags, out report.Response) error {
	if a.output.Value == "yaml" {
		return e.Print().YAML(out)
	}
	return secret.NewEncoder(e.Stdout, cli.Protocol()).Encode(out)
}

// An exchange answers the requests of one program.
type exchange struct {
	env      *cli.Env
	oneOff   *site.OneOff
	diff     report.DiffMode
	detailed bool
}

// newExchange prepares an exchange. In a stream a request can refer to earlier requests.
func newExchange(e *cli.Env, cmd *cobra.Command, f *oneOffFlags, stream bool) (*exchange, error) {
	s, err := cli.OpenSession(cmd, e)
	if err != nil {
		return nil, err
	}
	if s == nil && stream {
		s = session.Memory()
	}
	o, err := newOneOff(e, cmd, f, "request", site.HostOptions{Log: cli.NewLogger(e, e.Stderr, f.debug)}, s)
	return &exchange{env: e, oneOff: o, diff: report.DiffMode(f.diff.Value), detailed: f.detailed}, err
}

// pause is the time without a request after which a stream gives the lock back.
const pause = 100 * time.Millisecond

// answerAll answers a request a line until standard input ends.
func (x *exchange) answerAll(ctx context.Context) error {
	lines := make(chan []byte)
	var readErr error
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(x.env.Stdin, 64<<10)
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
	enc := secret.NewEncoder(x.env.Stdout, cli.Protocol())
	defer x.oneOff.Close()
	var all cli.Status
	for {
		select {
		case <-x.env.Stop:
			return cli.Status(cli.ExitInterrupted)
		case <-time.After(pause):
			x.oneOff.Close() // so that others can have the lock
			continue
		case line, ok := <-lines:
			if !ok {
				if readErr != nil {
					return fmt.Errorf("standard input: %w", readErr)
				}
				return all.Err()
			}
			out, code := x.answer(ctx, func() (manifest.Request, error) { return manifest.ReadJSONRequest(line) })
			if err := enc.Encode(out); err != nil {
				return fmt.Errorf("response: %w", err)
			}
			switch {
			case code == cli.ExitInterrupted:
				return code
			case code == cli.ExitUsage && all&cli.ExitFailed == 0:
				all = cli.ExitUsage
			case code != cli.ExitUsage && code != cli.ExitOK:
				all = all&^cli.ExitUsage | code
			}
		}
	}
}

// answer reads a request and answers it. The response has the event of the resource or, if nothing was
// done, the reason. Failures of the resource, and of those that a manifest applies, are in the event.
func (x *exchange) answer(ctx context.Context, read func() (manifest.Request, error)) (out report.Response, code cli.Status) {
	out.Protocol = report.ResponseProtocol
	defer func() {
		if p := recover(); p != nil {
			x.oneOff.Log().Error("a request made ccm panic", "panic", p, "stack", string(debug.Stack()))
			out, code = report.Response{Protocol: report.ResponseProtocol, Error: fmt.Sprintf("internal error in ccm: %v", p)}, cli.ExitUsage
		}
	}()
	result, err := x.converge(ctx, read)
	if err != nil {
		out.Error = errorText(err)
		return out, cli.ExitUsage
	}
	out.State = new(report.EventOf(result.Events[len(result.Events)-1], result.ID, x.diff))
	return out, resultStatus(result, x.detailed)
}

// converge performs a request.
func (x *exchange) converge(ctx context.Context, read func() (manifest.Request, error)) (*site.Result, error) {
	req, err := read()
	if err != nil {
		return nil, err
	}
	reg, err := x.oneOff.Registry()
	if err != nil {
		return nil, err
	}
	t := reg.Type(req.Type)
	if t == nil {
		return nil, site.UnknownType(reg, req.Type)
	}
	what, err := manifest.ParseRequest(t, req.Properties)
	if err != nil {
		return nil, err
	}
	what.Pos, what.Sensitive = diag.Pos{File: "request"}, req.Sensitive
	return x.oneOff.Converge(ctx, what, nil)
}

// errorText returns an error as the text of a response. The mistakes of one resource name their
// property, but have no place, because programs write requests. Errors without a property keep
// their place.
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

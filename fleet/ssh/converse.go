package ssh

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/luaccm/ccm/runtime/diag"
)

// converse sends the request and passes on the answer's lines.
func (s *call) converse(c *Client, p *progress, h Host, tell func(Line)) (exit int, err error) {
	if c.Password != "" {
		_, _ = io.WriteString(s.stdin, c.Password+"\n") // an error shows below
		s.output.limit(promptMarker, 2, func() { s.close(); _ = s.cmd.Process.Kill() })
	}
	greeted := false
	for {
		line, err := readLine(s.stdout)
		if err != nil {
			if s.output.prompts() > 1 {
				_ = s.end(err)
				return 0, diag.Rejected("the host", "the password")
			}
			if err = s.end(err); greeted {
				return 0, &lostError{"connection lost while ccm ran: " + err.Error()}
			}
			return 0, err
		}
		if !greeted {
			var first hello
			if greeted = json.Unmarshal(line, &first) == nil && first.Protocol == helloProtocol; greeted {
				req := c.Request
				req.Protocol = requestProtocol
				if req.wantsFacts {
					req.Facts = h.Facts
				}
				p.runs.Store(true)
				if err := writeLine(s.stdin, req); err != nil {
					return 0, s.end(err)
				}
			}
			continue
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			continue // output of a shell that ends
		}
		switch {
		case f.Want:
			if _, err := s.stdin.Write(c.Bundle); err != nil {
				return 0, s.end(err)
			}
		case f.Out != nil:
			tell(Line{Text: *f.Out})
		case f.Err != nil:
			tell(Line{Text: *f.Err, Stderr: true})
		case f.Refusal != "":
			_ = s.end(nil)
			return 0, errors.New(f.Refusal)
		case f.Exit != nil:
			_ = s.end(nil)
			if *f.Exit < 0 || *f.Exit > 255 {
				return 0, diag.Invalid(fmt.Sprintf("exit status %d", *f.Exit), nil)
			}
			return *f.Exit, nil
		}
	}
}

package ssh

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// start starts ccm on a host, and takes it there before if it is not there. All of that is one
// session of ssh.
func (c *Client) start(ctx context.Context, p *progress, h Host) (*call, error) {
	unames, sums := c.Programs.available()
	become := c.Become
	if become == nil {
		become = h.Become
	}
	s, err := c.call(ctx, p.ending, h, startScript(c.RemoteDir, become, unames, sums))
	if err != nil {
		return nil, err
	}
	var sent chan struct{} // closed when all of a program is on its way; nil if the host has it
	for noise := 0; ; {
		line, err := readLine(s.stdout)
		if noise += len(line) + 1; noise > maxLine {
			err = errNoise
		}
		if err != nil {
			err = s.end(err)
			if _, lost := err.(*lostError); !lost && sent != nil {
				err = fmt.Errorf("ccm cannot be stored there: %w", err)
			}
			return nil, err
		}
		if text := strings.TrimSpace(string(line)); text != "" && sent == nil {
			s.noise = text
		}
		// A prompt without an end of line may stand before it.
		if rest, ok := after(line, absentMarker+" "); ok && sent == nil {
			p.answered.Store(true)
			packing, uname, _ := strings.Cut(rest, " ")
			content, err := c.Programs.forHost(strings.TrimSpace(uname), packing == "gzip")
			if err != nil {
				_ = s.end(nil)
				return nil, err
			}
			sent = make(chan struct{})
			go func() { // the other side may end before it has read all
				defer close(sent)
				_, _ = fmt.Fprintf(s.stdin, "%d\n", len(content))
				_, _ = s.stdin.Write(content)
			}()
		}
		if _, ok := after(line, presentMarker); ok {
			p.answered.Store(true)
			if sent != nil {
				<-sent
			}
			return s, nil
		}
	}
}

// after returns what follows a marker in a line.
func after(line []byte, marker string) (string, bool) {
	_, rest, ok := bytes.Cut(line, []byte(marker))
	return string(rest), ok
}

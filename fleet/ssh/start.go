package ssh

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// start starts ccm on a host, and copies the program there first if it is missing, in one session
// of ssh.
func (c *Client) start(ctx context.Context, p *progress, h Host) (*call, error) {
	unames, sums := c.Programs.available()
	become := c.Become
	if become == nil {
		become = h.Become
	}
	s, err := c.call(ctx, p.stop, h, startScript(c.RemoteDir, become, unames, sums))
	if err != nil {
		return nil, err
	}
	var program *packing // the program that the host lacks
	for noise, sent := 0, 0; ; {
		line, err := readLine(s.stdout)
		if noise += len(line) + 1; noise > maxLine {
			err = errNoise
		}
		if err != nil {
			err = s.end(err)
			if _, lost := err.(*lostError); !lost && program != nil {
				err = diag.Cannot("store", "ccm there", err)
			}
			return nil, err
		}
		// A prompt without an end of line may precede the marker.
		if rest, ok := after(line, absentMarker+" "); ok && program == nil {
			p.answered.Store(true)
			packing, uname, _ := strings.Cut(rest, " ")
			if program, err = c.Programs.forHost(strings.TrimSpace(uname), packing == "gzip"); err != nil {
				_ = s.end(nil)
				return nil, err
			}
		}
		if _, ok := after(line, nextMarker); ok && program != nil {
			part, err := program.from(sent)
			if err != nil {
				_ = s.end(nil)
				return nil, err
			}
			sent += len(part)
			_, _ = fmt.Fprintf(s.stdin, "%d\n", len(part)) // an error shows above
			_, _ = s.stdin.Write(part)
		}
		if _, ok := after(line, presentMarker); ok {
			p.answered.Store(true)
			s.noise = "" // the next lines are from ccm
			return s, nil
		}
		if text := strings.TrimSpace(string(line)); text != "" && program == nil {
			s.noise = text
		}
	}
}

// after returns the text after a marker in a line.
func after(line []byte, marker string) (string, bool) {
	_, rest, ok := bytes.Cut(line, []byte(marker))
	return string(rest), ok
}

package ssh

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Client reaches hosts by the ssh of the user.
type Client struct {
	// Command is ssh, with its first arguments.
	Command []string
	// Interactive lets ssh ask on the terminal.
	Interactive bool
	// ControlDir is the directory of the sockets of connections that are shared, "" for none.
	ControlDir string
	// Become is what stands before ccm on the host, such as sudo -n.
	Become []string
	// Password is what sudo -S reads; "" for none.
	Password string
	// RemoteDir is where programs are kept on the hosts, "" for the cache directory of the user.
	RemoteDir string
	Programs  *Programs
	// Timeout is how long one host may take, 0 for ever.
	Timeout time.Duration
	// Request is what is run, and Bundle the content of its site.
	Request Request
	Bundle  []byte
}

// A Line is one line that the command has printed on a host.
type Line struct {
	Text   string
	Stderr bool
}

// A Result is what became of one host.
type Result struct {
	Host Host
	// Err says why there is no exit status.
	Err error
	// Unreachable says that ssh did not get there, or that the connection broke.
	Unreachable bool
	// Exit is the exit status of the command, 0 if there is none. With an error it is that of one
	// that was ended.
	Exit     int
	Duration time.Duration
}

// stopPatience is how long the command on a host may take to end after the connection was told
// to end.
const stopPatience = 20 * time.Second

// Run runs the request on a host. Each line is told as it comes. When stop is closed the command
// is asked to end after what it is doing; when ctx ends the connection is cut.
func (c *Client) Run(ctx context.Context, stop <-chan struct{}, h Host, tell func(Line)) (res Result) {
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ending := make(chan struct{}) // the command is to end
	timedOut := false
	var guard sync.WaitGroup
	defer guard.Wait()
	done := make(chan struct{})
	defer close(done)
	guard.Go(func() {
		var late <-chan time.Time
		if c.Timeout > 0 {
			t := time.NewTimer(c.Timeout)
			defer t.Stop()
			late = t.C
		}
		select {
		case <-done:
			return
		case <-late:
			timedOut = true
		case <-stop:
		}
		close(ending)
		select {
		case <-done:
		case <-time.After(stopPatience):
			cancel()
		}
	})
	res = Result{Host: h}
	s, err := c.start(ctx, ending, h)
	if err == nil {
		res.Exit, err = s.converse(c, h, tell)
	}
	if lost, ok := errors.AsType[*lostError](err); ok {
		res.Unreachable, err = true, lost
	}
	res.Err, res.Duration = err, time.Since(began)
	select {
	case <-ending:
		if timedOut && (err != nil || res.Exit != 0) {
			res.Err = fmt.Errorf("it took longer than %s", c.Timeout)
		}
	default:
	}
	return res
}

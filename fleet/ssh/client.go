package ssh

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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
	// ConnectTimeout is how long one host may take until its login shell answers, 0 for ever. Those of
	// ssh do not count a server that is mute, nor a login shell that hangs.
	ConnectTimeout time.Duration
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
	// Late says that it took longer than it may.
	Late bool
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
func (c *Client) Run(ctx context.Context, stop <-chan struct{}, h Host, tell func(Line)) Result {
	began := time.Now()
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	p := &progress{stop: make(chan struct{})}
	done := make(chan struct{})
	var guard sync.WaitGroup
	guard.Go(func() { c.guard(p, stop, done, cut) })
	res := Result{Host: h}
	s, err := c.start(ctx, p, h)
	if err == nil {
		res.Exit, err = s.converse(c, p, h, tell)
	}
	close(done)
	guard.Wait()
	lost, ok := errors.AsType[*lostError](err)
	if ok {
		res.Unreachable, err = true, lost
	}
	res.Err, res.Duration = err, time.Since(began)
	if p.timeout > 0 && (err != nil || res.Exit != 0) {
		res.Err, res.Late = fmt.Errorf("it took longer than %s", p.timeout), true
		if res.Unreachable = !p.answered.Load(); res.Unreachable {
			res.Err = fmt.Errorf("it did not answer within %s", p.timeout)
		}
	}
	switch {
	case !p.stopped || err == nil:
	case !p.runs.Load():
		res.Err, res.Unreachable = errors.New("it was interrupted before ccm was begun there"), false
	case p.abandoned:
		res.Err, res.Unreachable = fmt.Errorf("it was interrupted, and left after %s: ccm there ends after what it is doing", stopPatience), false
	}
	return res
}

// A progress is how far a host has got.
type progress struct {
	answered atomic.Bool   // its login shell has
	runs     atomic.Bool   // ccm runs there, and has to be told to end
	stop     chan struct{} // closed when the command is to end
	timeout  time.Duration // what was exceeded, 0 if nothing was
	// stopped says that it was to end before, abandoned that ccm had not ended in time after that.
	stopped, abandoned bool
}

// guard ends what takes too long, or is to stop, until done is closed.
func (c *Client) guard(p *progress, stop, done <-chan struct{}, cut func()) {
	after := func(d time.Duration) <-chan time.Time {
		if d <= 0 {
			return nil
		}
		return time.After(d)
	}
	late, mute := after(c.Timeout), after(c.ConnectTimeout)
	for waiting := true; waiting; {
		waiting = false
		select {
		case <-done:
			return
		case <-mute:
			if waiting = p.answered.Load(); !waiting {
				p.timeout = c.ConnectTimeout
			}
			mute = nil
		case <-late:
			p.timeout = c.Timeout
		case <-stop:
			p.stopped = true
		}
	}
	close(p.stop)
	if !p.runs.Load() {
		cut()
		return
	}
	select {
	case <-done:
	case <-time.After(stopPatience):
		p.abandoned = true
		cut()
	}
}

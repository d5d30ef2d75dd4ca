package ssh

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/words"
)

// A Client reaches hosts by the ssh of the user.
type Client struct {
	// Command is ssh, with its first arguments.
	Command []string
	// Interactive lets ssh ask on the terminal.
	Interactive bool
	// ControlDir is the directory of the sockets of connections that are shared, "" for none.
	ControlDir string
	// Become is the prefix of ccm's command line on the host, such as sudo -n.
	Become []string
	// Password is the input for sudo -S; "" for none.
	Password string
	// RemoteDir is the directory of programs on the hosts, "" for the cache directory of the user.
	RemoteDir string
	Programs  *Programs
	// Timeout is the time limit for one host, 0 for none.
	Timeout time.Duration
	// ConnectTimeout is the time limit until a host's login shell answers, 0 for none. The limits
	// of ssh itself cover neither a mute server nor a login shell that hangs.
	ConnectTimeout time.Duration
	// Request is the request to run, and Bundle the content of its site.
	Request Request
	Bundle  []byte
}

// A Line is one line that the command printed on a host.
type Line struct {
	Text   string
	Stderr bool
}

// A Result is the result of one host.
type Result struct {
	Host Host
	// Err is why there is no exit status.
	Err error
	// Unreachable is set if ssh did not reach the host, or lost the connection.
	Unreachable bool
	// Late is set if the host exceeded a time limit.
	Late bool
	// Exit is the exit status of the command, 0 if there is none. With an error the command was
	// ended before its own end.
	Exit     int
	Duration time.Duration
}

// stopPatience is how long the command on a host may take to end after it was asked to.
const stopPatience = 20 * time.Second

// Run runs the request on a host, and passes each line as it arrives. When stop is closed
// the command is asked to end after its present step; when ctx ends the connection is cut.
func (c *Client) Run(ctx context.Context, stop <-chan struct{}, h Host, report func(Line)) Result {
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
		res.Exit, err = s.converse(c, p, h, report)
	}
	close(done)
	guard.Wait()
	lost, ok := errors.AsType[*lostError](err)
	if ok {
		res.Unreachable, err = true, lost
	}
	res.Err, res.Duration = err, time.Since(began)
	if p.timeout > 0 && (err != nil || res.Exit != 0) {
		res.Err, res.Late = diag.TimedOut("", words.Duration(p.timeout)), true
		if res.Unreachable = !p.answered.Load(); res.Unreachable {
			res.Err = diag.NoResponse(p.timeout)
		}
	}
	switch {
	case !p.stopped || err == nil:
	case !p.runs.Load():
		res.Err, res.Unreachable = diag.Interrupted("before ccm started there"), false
	case p.abandoned:
		res.Err, res.Unreachable = diag.Interrupted(fmt.Sprintf("and abandoned after %s: ccm on the host stops after its current step", stopPatience)), false
	}
	return res
}

// A progress is the progress of one host.
type progress struct {
	answered atomic.Bool   // the login shell has answered
	runs     atomic.Bool   // ccm runs there, and has to be asked to end
	stop     chan struct{} // closed to end the command
	timeout  time.Duration // the exceeded limit, 0 if none was
	// stopped says that the host was asked to end, abandoned that ccm did not end in time after
	// that.
	stopped, abandoned bool
}

// guard ends the host's call after a time limit or a stop, until done is closed.
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

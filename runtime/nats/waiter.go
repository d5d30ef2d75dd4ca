package nats

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// A waiter is a pending request.
type waiter struct {
	end context.CancelCauseFunc
	// publishes reports whether the request publishes to a subject.
	publishes func(subject string) bool
}

// errRefused is returned for a request that the server does not permit.
var errRefused = errors.New("permission denied for the credentials of the context")

// refused ends the pending requests that an error of the connection denies. It may be about an earlier request: the
// library reports it in a goroutine of its own. A denied subscription is that to answers, without which no request ends.
func (c *Client) refused(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	subject, publishing := deniedSubject(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.waiters {
		if !publishing || w.publishes(subject) {
			w.end(errRefused)
		}
	}
}

// deniedSubject returns the subject to which the server did not let a client publish; false for another error.
func deniedSubject(err error) (string, bool) {
	_, rest, _ := strings.Cut(err.Error(), "Permissions Violation for Publish to ")
	quoted, e := strconv.QuotedPrefix(rest)
	if e != nil {
		return "", false
	}
	subject, e := strconv.Unquote(quoted)
	return subject, e == nil
}

// asks returns a function that reports whether a subject is that of a request about a stream, which is one of its tokens.
func asks(stream string) func(subject string) bool {
	return func(subject string) bool { return slices.Contains(strings.Split(subject, "."), stream) }
}

// wait returns a context for one request, which ends after answerPatience or when the server denies the request. Call
// the function after the request.
func (c *Client) wait(ctx context.Context, publishes func(subject string) bool) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	w := &waiter{end, publishes}
	c.mu.Lock()
	c.waiters[w] = true
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	return ctx, func() {
		c.mu.Lock()
		delete(c.waiters, w)
		c.mu.Unlock()
		cancel()
		end(nil)
	}
}

package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/fleet/retry"
)

func parentOf(path string) string { return filepath.Dir(path) }

// poll polls a source until the context ends, and runs it after changes. The first run begins
// after the first poll, even a failed one: so a machine that was off for a month runs the present
// site, and one without a network the site that it has. Reason is the reason of the first run.
func (a *Agent) poll(ctx context.Context, source Source, reason string) {
	name := source.Name()
	var change <-chan struct{}
	if n, ok := source.(Notifier); ok {
		change = n.Changed()
	}
	backoff, failures := retry.Backoff{Min: a.timing.BackoffLeast, Max: a.timing.BackoffMost}, 0
	failure, first := "", true
	var since time.Time
	for {
		changed, err := source.Poll(ctx)
		if ctx.Err() != nil {
			return
		}
		switch {
		case err != nil:
			a.metrics.count(metricFetchFailures, name)
			text := message(err)
			if failure == "" {
				since = a.now()
			}
			if normalized(text) != normalized(failure) {
				a.log.Error(fmt.Sprintf("%s: %s%s", name, text, goesOn(source)))
			}
			failure = text
		case failure != "":
			a.log.Info(fmt.Sprintf("%s: reachable again", name))
			failure, since = "", time.Time{}
		}
		if changed {
			a.metrics.count(metricFetches, name)
		}
		a.recordPoll(source, failure, since)
		switch {
		case changed:
			if site := siteOf(source); site.Path != "" {
				a.log.Info(fmt.Sprintf("%s: new version %s%s", name, short(site.Digest), signedBy(site.Signer)))
			}
			a.queue.trigger(name, Apply, "the source changed")
		case first:
			a.queue.trigger(name, Apply, reason)
		}
		first = false
		every := a.timing.Poll
		if p, ok := source.(Patience); ok {
			every = max(every, p.PollInterval())
		}
		wait := every + time.Duration(a.random()*float64(every)/10)
		if err != nil {
			failures++
			wait = backoff.Delay(failures, a.random)
		} else {
			failures = 0
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-change:
			t.Stop()
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// recordPoll records the result of a poll.
func (a *Agent) recordPoll(source Source, failure string, since time.Time) {
	site := siteOf(source) // not while the status is locked: it may wait for a run
	a.status.update(func(s *Status) {
		x := s.source(source.Name())
		x.LastPoll, x.Error, x.FailingSince = a.now(), failure, nil
		x.Digest, x.Signer, x.Path = site.Digest, site.Signer, site.Path
		if !since.IsZero() {
			x.FailingSince = &since
		}
	})
}

// siteOf returns the site of a source without keeping it in use.
func siteOf(source Source) Site {
	site, release, ok := source.Take()
	if ok {
		release()
	}
	return site
}

// goesOn returns which version of a source is run until there is a newer one.
func goesOn(source Source) string {
	site := siteOf(source)
	if site.Digest == "" {
		return ""
	}
	return fmt.Sprintf("; keeping version %s%s", short(site.Digest), signedBy(site.Signer))
}

// short returns the beginning of a digest, which people compare.
func short(digest string) string {
	const most = len("sha256:") + 12
	return digest[:min(len(digest), most)]
}

func signedBy(signer string) string {
	if signer == "" {
		return ""
	}
	return ", signed by " + signer
}

package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/fleet/retry"
)

func parentOf(path string) string { return filepath.Dir(path) }

// poll asks a source whether it has changed until the context ends, and has it run then. The first
// answer, whatever it is, lets the first run begin: a machine that comes back after a month runs
// what is so now, and one without a network what it has. Reason is that of the first run.
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
			if alike(text) != alike(failure) {
				a.log.Error(fmt.Sprintf("%s: %s%s", name, text, goesOn(source)))
			}
			failure = text
		case failure != "":
			a.log.Info(fmt.Sprintf("%s: reached again", name))
			failure, since = "", time.Time{}
		}
		if changed {
			a.metrics.count(metricFetches, name)
		}
		a.polled(source, failure, since)
		switch {
		case changed:
			if site := siteOf(source); site.Path != "" {
				a.log.Info(fmt.Sprintf("%s: new: %s%s", name, short(site.Digest), signedBy(site.Signer)))
			}
			a.queue.trigger(name, Apply, "it has changed")
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

// polled records what is known of a source.
func (a *Agent) polled(source Source, failure string, since time.Time) {
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

// siteOf returns what a source has, of which no file is used.
func siteOf(source Source) Site {
	site, release, ok := source.Take()
	if ok {
		release()
	}
	return site
}

// goesOn says what of a source is run as long as there is nothing newer.
func goesOn(source Source) string {
	site := siteOf(source)
	if site.Digest == "" {
		return ""
	}
	return fmt.Sprintf("; what is here goes on to be run: %s%s", short(site.Digest), signedBy(site.Signer))
}

// short returns the beginning of a digest, as people compare it.
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

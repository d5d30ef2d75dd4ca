package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// mostUnmanaged is the largest number of unmanaged items in the status and the log.
const mostUnmanaged = 20

// An Unmanaged is what the machine has and no source describes, as ccm import machine --against lists it.
type Unmanaged struct {
	Listed time.Time `json:"listed"`
	Count  int       `json:"count"`
	// Items are the first ones.
	Items []string `json:"items,omitempty"`
	// Error is the reason why they could not be listed.
	Error string `json:"error,omitempty"`
}

// listUnmanaged lists what no source describes, for the status. It lists nothing while no source was fetched.
func (a *Agent) listUnmanaged(ctx context.Context, stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked, end := either(stop, ctx.Done())
	defer end()
	go func() {
		select {
		case <-asked:
			cancel()
		case <-ctx.Done():
		}
	}()
	var common []string
	var err error
	compared := 0
	for _, s := range a.sources {
		site, release, ok := s.Take()
		if !ok {
			continue
		}
		var items []string
		if items, err = a.unmanagedOf(ctx, site); compared == 0 {
			common = items
		} else {
			common = slices.DeleteFunc(common, func(i string) bool { return !slices.Contains(items, i) })
		}
		release()
		if compared++; err != nil {
			break
		}
	}
	if compared == 0 || ctx.Err() != nil {
		return
	}
	u := &Unmanaged{Listed: a.now(), Count: len(common), Items: slices.Clone(common[:min(len(common), mostUnmanaged)])}
	var problems []string
	if err != nil {
		*u = Unmanaged{Listed: u.Listed, Error: message(err)}
		problems = []string{u.Error}
	}
	for _, problem := range a.memory.unreported("unmanaged: error", problems) {
		a.log.Error("cannot list what no source describes: " + problem)
	}
	for _, item := range a.memory.unreported("unmanaged", u.Items) {
		a.log.Warn("no source describes " + item)
	}
	if err == nil {
		a.metrics.set(metricUnmanaged, float64(u.Count))
		if a.fleet != nil {
			a.fleet.Unmanaged(u)
		}
	}
	a.status.update(func(s *Status) { s.Unmanaged = u })
}

// unmanagedOf returns what a site does not describe.
func (a *Agent) unmanagedOf(ctx context.Context, site Site) ([]string, error) {
	args := []string{"import", "machine", "--output", "json", "--against", site.Path}
	if a.data != nil {
		args = append(args, "--data", a.data.path())
	}
	if a.config.Context != "" {
		args = append(args, "--context", a.config.Context)
	}
	args = append(args, slices.DeleteFunc(slices.Clone(site.Arguments), func(arg string) bool { return arg == "--noop" })...)
	out, words, err := a.command(ctx, filepath.Dir(site.Path), append(args, a.runner.arguments...))
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() != 2 && words != "" {
		words, _, _ = strings.Cut(words, "\n") // the line of a script may follow
		return nil, errors.New(words)
	} else if !ok && err != nil {
		return nil, err
	}
	var scan struct {
		Items []struct{ Kind, Name, Reason string }
	}
	if err := json.Unmarshal(out, &scan); err != nil {
		return nil, diag.Damaged("the output of ccm import machine", err)
	}
	var items []string
	for _, i := range scan.Items {
		items = append(items, i.Kind+"#"+i.Name+": "+i.Reason)
	}
	return items, nil
}

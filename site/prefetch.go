package site

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/prefetch"
	"github.com/luaccm/ccm/runtime/resource"
)

// An observedRunner calls onRun after each command.
type observedRunner struct {
	host.Runner
	onRun func()
}

// Run implements host.Runner.
func (o *observedRunner) Run(ctx context.Context, c host.Cmd) (host.Result, error) {
	res, err := o.Runner.Run(ctx, c)
	if o.onRun != nil {
		o.onRun()
	}
	return res, err
}

// prefetch starts looking at resources while the site is still being read. Commands that run
// meanwhile go through o, because they may invalidate the results.
func (l *siteLoader) prefetch(ctx context.Context, o *observedRunner) {
	s := l.site
	s.prefetcher = prefetch.New(ctx, resource.NewProviderCache(s.Registry, s.Facts), &s.Host.View)
	l.builder.OnAdd = s.prefetcher.Enqueue
	o.onRun = s.prefetcher.Invalidate
}

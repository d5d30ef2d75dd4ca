package resource

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
)

// HasBulkStatus reports whether the provider implements [BulkStatus].
func (b Binding) HasBulkStatus() bool { return b.Type.hasBulkStatus(b.impl) }

// StatusAll reports the present states of many resources at once, by a [BulkStatus].
func (b Binding) StatusAll(ctx context.Context, v *host.View, specs []any) ([]any, []error) {
	return b.Type.statusAll(ctx, v, b.impl, specs)
}

func statusAll[D, S any](ctx context.Context, v *host.View, provider any, specs []any) ([]any, []error) {
	states, errs := provider.(BulkStatus[D, S]).StatusAll(ctx, v, specsOf[D](specs))
	out := make([]any, len(states))
	for i, s := range states {
		out[i] = s
	}
	return out, errs
}

func specsOf[D any](list []any) []D {
	specs := make([]D, len(list))
	for i, spec := range list {
		specs[i] = *spec.(*D)
	}
	return specs
}

// defineTogether makes the functions of a type whose specs are [BulkPerformer].
func defineTogether[D, P any](t *Type) {
	if _, ok := any(*new(D)).(BulkPerformer[D, P]); !ok {
		return
	}
	t.canJoin = func(spec, other any) bool {
		return any(*spec.(*D)).(BulkPerformer[D, P]).Together(*other.(*D))
	}
	t.performAll = func(ctx context.Context, h *host.Host, provider any, specs []any, a Action) error {
		return any(*specs[0].(*D)).(BulkPerformer[D, P]).PerformAll(ctx, h, provider.(P), specsOf[D](specs), a)
	}
}

// Together reports whether the same actions of two specs may be performed in one transaction (see
// [BulkPerformer]).
func (t *Type) Together(spec, other any) bool { return t.canJoin != nil && t.canJoin(spec, other) }

// PerformAll performs one action for several resources in one transaction. [Type.Together] holds
// for their specs.
func (b Binding) PerformAll(ctx context.Context, h *host.Host, specs []any, a Action) (err error) {
	defer b.recoverError(&err)
	return b.Type.performAll(ctx, h, b.impl, specs, a)
}

package resource

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
)

// Bulk is what a provider can be asked for many resources at once. A function may be nil: then each resource is handled
// by itself, and reports name no companions.
type Bulk[D, S any] struct {
	// Status reports the states of many resources: states[i] or errs[i] for wants[i].
	Status func(ctx context.Context, v *host.View, wants []D) (states []S, errs []error)
	// Predict predicts the success of many resources, such as whether repositories have the packages: list[i] for
	// wants[i]. It changes nothing. Its answers do not depend on effects that a plan assumes.
	Predict func(ctx context.Context, v *host.View, wants []D) (list []Prediction)
	// Together reports whether the same actions of two specs may be put into one transaction. Perform performs one
	// action for several resources in one transaction, faster than one after the other. It may fail with some of them
	// done: the engine looks at each again, and performs the rest one by one.
	Together func(one, other D) bool
	Perform  func(ctx context.Context, h *host.Host, wants []D, a Action) error
	// Inventory lists all existing things of the type, some of which come and go with others, such as packages with
	// their dependencies. CompanionText names those that came or went when the wants were acted on together, "" if
	// there are none.
	Inventory     func(ctx context.Context, v *host.View) (Inventory, error)
	CompanionText func(wants []D, came, went []string) string
}

// bulkOf returns the functions of a [BulkProvider] for any specs and states.
func bulkOf[D, S any](impl any) (all Bulk[any, any]) {
	p, ok := impl.(BulkProvider[D, S])
	if !ok {
		return all
	}
	b := p.Bulk()
	all.Inventory = b.Inventory
	if b.Status != nil {
		all.Status = func(ctx context.Context, v *host.View, specs []any) ([]any, []error) {
			states, errs := b.Status(ctx, v, specsOf[D](specs))
			out := make([]any, len(states))
			for i, s := range states {
				out[i] = s
			}
			return out, errs
		}
	}
	if b.Predict != nil {
		all.Predict = func(ctx context.Context, v *host.View, specs []any) []Prediction {
			return b.Predict(ctx, v, specsOf[D](specs))
		}
	}
	if b.Perform != nil {
		all.Together = func(one, other any) bool { return b.Together(*one.(*D), *other.(*D)) }
		all.Perform = func(ctx context.Context, h *host.Host, specs []any, a Action) error {
			return b.Perform(ctx, h, specsOf[D](specs), a)
		}
	}
	if b.CompanionText != nil {
		all.CompanionText = func(specs []any, came, went []string) string { return b.CompanionText(specsOf[D](specs), came, went) }
	}
	return all
}

func specsOf[D any](list []any) []D {
	specs := make([]D, len(list))
	for i, spec := range list {
		specs[i] = *spec.(*D)
	}
	return specs
}

// HasBulkStatus reports whether the provider can be asked for many states at once.
func (b Binding) HasBulkStatus() bool { return b.bulk.Status != nil }

// StatusAll reports the present states of many resources at once, by [Bulk.Status].
func (b Binding) StatusAll(ctx context.Context, v *host.View, specs []any) ([]any, []error) {
	return b.bulk.Status(ctx, v, specs)
}

// HasBulkPrediction reports whether the provider can be asked for many predictions at once.
func (b Binding) HasBulkPrediction() bool { return b.bulk.Predict != nil }

// PredictAll returns the predictions of many resources at once, by [Bulk.Predict], or nil without that.
func (b Binding) PredictAll(ctx context.Context, v *host.View, specs []any) (list []Prediction) {
	if b.bulk.Predict == nil {
		return nil
	}
	return b.bulk.Predict(ctx, v, specs)
}

// Together reports whether the same actions of two specs may be performed in one transaction.
func (b Binding) Together(spec, other any) bool {
	return b.bulk.Together != nil && b.bulk.Together(spec, other)
}

// PerformAll performs one action for several resources in one transaction. [Binding.Together] holds
// for their specs.
func (b Binding) PerformAll(ctx context.Context, h *host.Host, specs []any, a Action) (err error) {
	defer b.recoverError(&err)
	return b.bulk.Perform(ctx, h, specs, a)
}

package resource

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
)

// A Prediction is the expected success of a pending resource.
type Prediction struct {
	// Caveat is a remark for the report, such as the version that would be installed.
	Caveat string
	// Err is the error with which the actions are going to fail.
	Err error
	// Look is the lookup on which the prediction depends. If its name is "", there is none.
	Look overlay.Look
	// DependsOn lists paths whose change may change the prediction.
	DependsOn []string
	// Installs lists the names of further resources of the type that are installed with
	// it, such as dependencies.
	Installs []string
	// Removes lists the names of further resources of the type that are removed with it, such as
	// packages that depend on it. A removed resource has the zero state of the type.
	Removes []string
	// Files knows the files of everything that is installed by the predictions of one call; nil if nothing does.
	Files *FileLists
	// Lost is set if the removed things, which others may need, cannot be installed again.
	Lost bool
}

// A WrongUserError reports that actions fail because of the user of this process. They would not
// fail for another user.
type WrongUserError struct{ Text string }

// Error returns the text.
func (e *WrongUserError) Error() string { return e.Text }

// HasBulkPrediction reports whether the provider implements [BulkPredictor].
func (b Binding) HasBulkPrediction() bool {
	return b.Type.hasBulkPrediction != nil && b.Type.hasBulkPrediction(b.impl)
}

// PredictAll returns the predictions of many resources at once. It is not ok if the provider is
// no [BulkPredictor].
func (b Binding) PredictAll(ctx context.Context, v *host.View, specs []any) (list []Prediction, ok bool) {
	if b.Type.predictAll == nil {
		return nil, false
	}
	return b.Type.predictAll(ctx, v, b.impl, specs)
}

func predictAll[D any](ctx context.Context, v *host.View, provider any, specs []any) ([]Prediction, bool) {
	f, ok := provider.(BulkPredictor[D])
	if !ok {
		return nil, false
	}
	return f.PredictAll(ctx, v, specsOf[D](specs)), true
}

package systemd

import (
	"context"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.Predictor[resources.Service] = (*services)(nil)

// Predict implements resource.Predictor: systemd lets nobody but root change
// services of the system.
func (*services) Predict(context.Context, *host.View, resources.Service) (string, error) {
	return "", host.NeedsRoot("only root can change services of the system")
}

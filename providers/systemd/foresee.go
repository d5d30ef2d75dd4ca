package systemd

import (
	"context"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.Forecaster[resources.Service] = (*services)(nil)

// Foresee implements resource.Forecaster: systemd lets nobody but root change
// services of the system.
func (*services) Foresee(context.Context, *host.View, resources.Service) (string, error) {
	return "", host.NeedsRoot("only root can change services of the system")
}

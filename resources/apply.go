package resources

import (
	"context"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// ApplyType is the type of manifests and scripts that are applied by others.
var ApplyType = resource.Define[Apply, ApplyState, ApplyProvider]("apply")

// Apply applies another manifest or script. What that declares is managed
// before this resource, in the same run; this resource has changed if any of it
// has, and has failed if any of it has.
type Apply struct {
	// Name is the path of the manifest or script. A relative path is relative to the script or
	// manifest with the resource.
	Name string `ccm:"name,name,example=web/manifest.yaml,kind=path"`
	// Ensure is always present.
	Ensure ApplyEnsure `ccm:"ensure,default=present"`
	// Noop plans the child and changes nothing. A child cannot undo what its parent requests.
	Noop bool `ccm:"noop"`
	// HealthCheckOnly only runs the health checks of the child. A child cannot undo what its parent
	// requests.
	HealthCheckOnly bool `ccm:"health_check_only"`
	// AllowApply allows the child to apply other files.
	AllowApply bool `ccm:"allow_apply,default=true"`
	// Data is merged over the data of the child.
	Data map[string]any `ccm:"data"`
}

// An ApplyEnsure is a desired value of ensure for a child.
type ApplyEnsure string

// ApplyPresent is the only value.
const ApplyPresent ApplyEnsure = "present"

// Values implements schema.Enum.
func (ApplyEnsure) Values() []string { return []string{"present"} }

// ApplyState is empty: the resources of a child have states of their own.
type ApplyState struct{}

// CurrentEnsure implements resource.StateEnsure.
func (ApplyState) CurrentEnsure() string { return string(ApplyPresent) }

// ApplyProvider represents the reading of manifests and scripts. That is done when the catalog is
// built; the provider only reports it.
type ApplyProvider interface {
	// Status reports that the child was read.
	Status(ctx context.Context, v *host.View, want Apply) (ApplyState, error)
}

var _ resource.Refresher[ApplyState] = Apply{}

// Validate implements resource.Spec.
func (a Apply) Validate() error {
	if strings.TrimSpace(a.Name) == "" {
		return wrong("name", "%w", diag.Expected("the path of a manifest or script").Got("%q", a.Name))
	}
	if scheme, _, ok := strings.Cut(a.Name, "://"); ok {
		return wrong("name", "%w", diag.Expected("the path of a manifest or script").Got("a %s URL", scheme))
	}
	if a.Noop && a.HealthCheckOnly {
		return wrong("health_check_only", "%w", diag.Conflicting("", "noop"))
	}
	return nil
}

// child is the manifest or script.
func (a Apply) child() resource.Child {
	c := resource.Child{Path: a.Name, Data: a.Data, MayApply: a.AllowApply}
	switch {
	case a.HealthCheckOnly:
		c.Restraint = resource.MonitorOnly
	case a.Noop:
		c.Restraint = resource.Noop
	}
	return c
}

// WantedEnsure implements resource.EnsureReporter.
func (a Apply) WantedEnsure() string { return string(a.Ensure) }

// Traits implements resource.Characterized: the resources of the child were verified already.
func (a Apply) Traits() resource.Traits { return resource.Traits{VerifiesItself: true, Child: a.child} }

// Decide implements resource.Spec.
func (Apply) Decide(ApplyState) (d resource.Decision) { return d }

// Refresh implements resource.Refresher: a resource of the child changed, and so the child has
// changed.
func (Apply) Refresh(_ ApplyState, d resource.Decision) resource.Decision {
	d.AddAction("Apply", "applied changes")
	d.Complete = true
	return d
}

// Perform implements resource.Spec.
func (Apply) Perform(_ context.Context, _ *host.Host, _ ApplyProvider, a resource.Action) error {
	if a.Verb != "Apply" {
		return diag.Unknown("verb of apply", a.Verb, nil)
	}
	return nil
}

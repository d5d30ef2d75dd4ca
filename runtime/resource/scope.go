package resource

// A Restraint limits the actions of a run in a scope. A higher one is stronger.
type Restraint uint8

// The restraints.
const (
	Unrestrained Restraint = iota
	Noop                   // plan only
	MonitorOnly            // run only the health checks
)

// A Scope is one script or manifest of a run. Its parent is the scope that applies it.
type Scope struct {
	// File is the name of the script or manifest.
	File string
	// Apply is the resource that applies it; zero at the root.
	Apply  ID
	Parent *Scope
	// FailOnError skips the rest of the scope after a failure in it.
	FailOnError bool
	// Restraint is at least that of the parent.
	Restraint Restraint
}

// Depth returns how many scopes are above s.
func (s *Scope) Depth() int {
	n := 0
	for s != nil && s.Parent != nil {
		s = s.Parent
		n++
	}
	return n
}

// Within reports whether s is t or below it.
func (s *Scope) Within(t *Scope) bool {
	for ; s != nil; s = s.Parent {
		if s == t {
			return true
		}
	}
	return t == nil
}

// Restraint returns the restraint of the resource's scope.
func (r *Resource) Restraint() Restraint {
	if r.Scope == nil {
		return Unrestrained
	}
	return r.Scope.Restraint
}

// IsOnlyPlanned reports whether r is planned and not acted on, even in a run.
func (r *Resource) IsOnlyPlanned() bool { return r.Restraint() == Noop }

// ConcernedBy reports whether the outcome of resource by matters to r. If by is only planned, it
// matters only if r is as well.
func (r *Resource) ConcernedBy(by *Resource) bool { return r.IsOnlyPlanned() || !by.IsOnlyPlanned() }

// A Child is a script or manifest that a resource applies.
type Child struct {
	// Path is relative to the script or manifest that declares the resource.
	Path string
	// Data is merged over the data of the child.
	Data map[string]any
	// Restraint is the weakest restraint of the child's scope.
	Restraint Restraint
	// MayApply is set if the child may apply children of its own.
	MayApply bool
}

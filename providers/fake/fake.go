// Package fake provides packages, services, commands, archives and the owners of
// files on a machine that is only imagined: a small model of each, for the tests
// of sites. Files are real, below the root that the host has.
//
// What a provider does here changes the model and nothing else, so that no root
// is needed and no command runs. Begin with [New] and [Machine.Providers].
package fake

import (
	"context"
	"fmt"
	"sync"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Service is one service of a machine.
type Service struct{ Running, Enabled bool }

// An Answer is what a command says and how it exits.
type Answer struct {
	Stdout, Stderr string
	Code           int
}

// A Machine is what is imagined. It is safe for use by several goroutines.
type Machine struct {
	// Packages are those that are installed, with their versions.
	Packages map[string]string
	// Services are those that have a state of their own; any other is stopped.
	Services map[string]Service
	// Answers are what commands say, by their text. Any other command says nothing
	// and succeeds, once the machine converges.
	Answers map[string]Answer

	mu       sync.Mutex
	commands []string
	done     map[string]bool      // commands of execs that were run
	owners   map[string][2]string // owner and group of files that were written
	// converging is set once commands may be run that nobody answers for.
	converging bool
}

// New returns a machine with nothing installed.
func New() *Machine {
	return &Machine{
		Packages: map[string]string{}, Services: map[string]Service{}, Answers: map[string]Answer{},
		done: map[string]bool{}, owners: map[string][2]string{},
	}
}

// Converge says that the machine is being converged from now on.
func (m *Machine) Converge() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.converging = true
}

// Commands returns the commands that would have changed a machine, in order.
func (m *Machine) Commands() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.commands...)
}

// Run implements host.Runner. Commands that look are answered.
func (m *Machine) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.Answers[c.String()]
	if !ok && !m.converging {
		return host.Result{}, fmt.Errorf("no command runs in a spec, and the options of catalog do not say what this one does: commands = { [%q] = ... }", c)
	}
	return host.Result{Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr), Code: a.Code}, nil
}

// Providers returns for each type what manages it on this machine: for those that
// are imagined the model, under every name that a real provider has, and for the
// others the real ones.
func (m *Machine) Providers(real *resource.Registry) []resource.Binding {
	var out []resource.Binding
	for _, t := range real.Types() {
		factories := real.Bindings(t)
		for i, f := range factories {
			// All of a type are one model, so that any of them will do.
			switch t {
			case resources.PackageType.Type:
				f = resources.PackageType.Provide(f.Name, ofFamily(f.Name, i), packages{m})
			case resources.ServiceType.Type:
				f = resources.ServiceType.Provide(f.Name, resource.Always[resources.Service](i), services{m})
			case resources.ExecType.Type:
				f = resources.ExecType.Provide(f.Name, resource.Always[resources.Exec](i), execs{m})
			case resources.ArchiveType.Type:
				f = resources.ArchiveType.Provide(f.Name, resource.Always[resources.Archive](i), archives{m})
			case resources.FileType.Type:
				f = resources.FileType.Provide(f.Name, resource.Always[resources.File](i), files{m, f})
			}
			out = append(out, f)
		}
	}
	return out
}

// managers are the package systems of families of systems.
var managers = map[string]string{"debian": "apt", "rhel": "dnf", "fedora": "dnf"}

// ofFamily prefers the package system that the imagined machine would have, and else goes by
// the order of registration.
func ofFamily(name string, order int) resource.Suits[resources.Package] {
	return func(f *facts.Facts, _ resources.Package) (int, error) {
		if family, err := f.Get("os.family"); err == nil && family != nil && managers[fmt.Sprint(family)] == name {
			return -1, nil
		}
		return order, nil
	}
}

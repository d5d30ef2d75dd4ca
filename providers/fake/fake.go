// Package fake provides packages, services, commands, archives and the owners of files on an
// imagined machine, with a small model of each, for the tests of sites. Files are real, below the
// root of the host.
//
// Actions change only the model, so no root is needed and no command runs. Begin with [New] and
// [Machine.Providers].
package fake

import (
	"context"
	"sync"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filecap"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Service is one service of a machine.
type Service struct{ Running, Enabled, Masked bool }

// An Answer is the output and exit code of a command.
type Answer struct {
	Stdout, Stderr string
	Code           int
}

// A Machine is an imagined machine. It is safe for use by several goroutines.
type Machine struct {
	// Packages are the installed packages, with their versions.
	Packages map[string]string
	// Services are the services with a state of their own; any other is stopped.
	Services map[string]Service
	// Answers are the answers of commands, by their text. Any other command has no output and
	// succeeds, once the machine converges.
	Answers map[string]Answer

	mu         sync.Mutex
	commands   []string
	onHold     map[string]bool      // packages
	done       map[string]bool      // commands of execs that were run
	owners     map[string][2]string // owner and group of files that were written
	unanswered int                  // number of commands run without an Answer
	// capabilities are those of files that were written with some.
	capabilities map[string]filecap.Capabilities
	// converging is set once commands without an Answer may run.
	converging bool
}

// New returns a machine with nothing installed.
func New() *Machine {
	return &Machine{
		Packages: map[string]string{}, Services: map[string]Service{}, Answers: map[string]Answer{},
		onHold: map[string]bool{}, done: map[string]bool{}, owners: map[string][2]string{},
		capabilities: map[string]filecap.Capabilities{},
	}
}

// Converge notifies the machine that it is being converged from now on.
func (m *Machine) Converge() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.converging = true
}

// Commands returns the commands that would have changed a real machine, in order.
func (m *Machine) Commands() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.commands...)
}

// Guesses implements contract.Guesser.
func (m *Machine) Guesses() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unanswered
}

// Run implements host.Runner. It answers commands that only look.
func (m *Machine) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.Answers[c.String()]
	if !ok && !m.converging {
		return host.Result{}, diag.SubjectCannot("specs", "run commands (set the result in the options of catalog: commands = { [%q] = ... })", c)
	}
	if !ok {
		m.unanswered++
		if c.Argv[0] == "sleep" {
			return host.Result{}, errWait
		}
	}
	return host.Result{Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr), Code: a.Code}, nil
}

// A model binds the model of a type to a machine, in the place of real, which is binding number
// order of its type.
type model func(m *Machine, real resource.Binding, order int) resource.Binding

// models has the models by their types. Types without one have real providers.
var models = map[*resource.Type]model{
	resources.PackageType.Type: packageModel,
	resources.ServiceType.Type: serviceModel,
	resources.ExecType.Type:    execModel,
	resources.ArchiveType.Type: archiveModel,
	resources.FileType.Type:    fileModel,
}

// Providers returns the bindings of all types: the models, under every name of a real provider,
// and the real providers of types without a model.
func (m *Machine) Providers(real *resource.Registry) []resource.Binding {
	var out []resource.Binding
	for _, t := range real.Types() {
		for i, b := range real.Bindings(t) {
			if bind := models[t]; bind != nil {
				b = bind(m, b, i)
			}
			out = append(out, b)
		}
	}
	return out
}

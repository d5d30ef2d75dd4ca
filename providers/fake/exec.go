package fake

import (
	"context"
	"slices"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// execs models commands. A command that was run has the effect that its guards ask for: the
// creates path exists, unless holds and onlyif does not hold. Before that, an unanswered guard
// says that the command is needed.
type execs struct{ m *Machine }

// execModel is the model of commands.
func execModel(m *Machine, real resource.Binding, order int) resource.Binding {
	return resources.ExecType.Provide(real.Name, resource.Always[resources.Exec](order), execs{m})
}

// Status implements resources.ExecProvider.
func (e execs) Status(_ context.Context, v *host.View, want resources.Exec) (s resources.ExecState, err error) {
	if want.Creates != "" {
		if s.CreatesSatisfied, err = v.Exists(want.Creates); err != nil {
			return s, err
		}
	}
	if want.Removes != "" {
		there, err := v.Exists(want.Removes)
		if s.RemovesSatisfied = !there; err != nil {
			return s, err
		}
	}
	if !want.AsksGuards(s) {
		return s, nil
	}
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	done := e.m.done[want.Name]
	if want.OnlyIf != "" {
		s.OnlyIfSatisfied = new(e.m.holds(want.OnlyIf, !done))
	}
	if want.Unless != "" {
		s.UnlessSatisfied = new(e.m.holds(want.Unless, done))
	}
	if want.Check != "" {
		s.CheckSatisfied = new(done || e.m.holds(want.Check, false))
	}
	return s, nil
}

// Holds implements resources.ExecProvider: a command that was run has succeeded.
func (e execs) Holds(context.Context, *host.View, resources.Exec) (bool, error) { return true, nil }

// holds reports whether a guard exits 0; for one without an Answer it returns otherwise.
func (m *Machine) holds(command string, otherwise bool) bool {
	if a, ok := m.Answers[command]; ok {
		return a.Code == 0
	}
	return otherwise
}

// Execute implements resources.ExecProvider.
func (e execs) Execute(ctx context.Context, h *host.Host, want resources.Exec) (host.Result, error) {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	command := want.CommandLine()
	e.m.commands = append(e.m.commands, command)
	a, answered := e.m.Answers[command]
	if !answered && want.ChangedIf != "" {
		return host.Result{}, diag.Requires("changed_if",
			"the output of this command (set it in the options of catalog: commands = { [%q] = ... })", command)
	}
	if !answered && len(want.Returns) > 0 {
		a.Code = want.Returns[0]
	}
	if slices.Contains(want.Returns, a.Code) || slices.Contains(want.UnchangedReturns, a.Code) {
		e.m.done[want.Name] = true
		if want.Creates != "" {
			if err := e.m.put(h, want.Creates); err != nil {
				return host.Result{}, err
			}
		}
		if want.Removes != "" {
			if err := h.RemoveTree(want.Removes); err != nil {
				return host.Result{}, err
			}
		}
	}
	return host.Result{Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr), Code: a.Code}, nil
}

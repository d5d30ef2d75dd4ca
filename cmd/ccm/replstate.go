package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// planFunction is plan().
func (p *prompt) planFunction(ctx context.Context, args []any) (any, error) {
	target, err := optionalID(args)
	if err != nil {
		return nil, err
	}
	c, err := p.catalog(target)
	if err != nil {
		return nil, err
	}
	if _, err := p.planned(ctx, c, converge.Reporters{}); err != nil {
		return nil, err
	}
	return p.events, nil
}

// optionalID returns the argument of a function that takes an ID or nothing.
func optionalID(args []any) (string, error) {
	if len(args) == 0 || args[0] == nil {
		return "", nil
	}
	id, ok := args[0].(string)
	if !ok {
		return "", fmt.Errorf("want a resource such as file#/etc/motd, got %v", args[0])
	}
	return id, nil
}

// look returns the present state of a resource. One that was declared is looked
// at as it was declared.
func (p *prompt) look(ctx context.Context, name string) (report.State, error) {
	id, err := resource.ParseID(name)
	if err != nil {
		return report.State{}, err
	}
	r := p.loading.builder.Get(id)
	if r == nil {
		if r, err = p.ask(id); err != nil {
			return report.State{}, err
		}
	}
	reg, err := p.providers(r)
	if err != nil {
		return report.State{}, err
	}
	provider, err := reg.Select(r, p.dialog.Facts())
	if err != nil {
		return report.State{}, about(r, err)
	}
	state, err := provider.Inspect(ctx, &p.host().View, r.Spec)
	if err != nil {
		return report.State{}, about(r, err)
	}
	return report.StateOf(r.ID, provider.Name, state), nil
}

// ask makes a resource of nothing but its name, to look at it.
func (p *prompt) ask(id resource.ID) (*resource.Resource, error) {
	t := p.loading.site.registry.Type(id.Type)
	if t == nil {
		return nil, unknownType(p.loading.site.registry, id.Type)
	}
	tab := &schema.Table{Entries: []schema.Entry{{Key: t.Schema().Name().Name, Val: schema.StringValue(id.Name)}}}
	return t.Ask(tab, resource.Origin{Dir: p.loading.cwd})
}

func (p *prompt) showCommand(ctx context.Context, _ *repl.Dialog, name string) error {
	s, err := p.look(ctx, name)
	if err != nil {
		return interrupted(err)
	}
	return p.env.printState(s, "text")
}

// stateFunction is state().
func (p *prompt) stateFunction(ctx context.Context, args []any) (any, error) {
	name, err := optionalID(args)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, errors.New("want a resource such as file#/etc/motd")
	}
	s, err := p.look(ctx, name)
	if err != nil {
		return nil, err
	}
	return newLiveState(s)
}

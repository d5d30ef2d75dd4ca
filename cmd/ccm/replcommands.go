package main

import (
	"context"

	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/runtime/report"
)

// commands returns the commands that look at the machine or change it.
func (p *prompt) commands() []repl.Command {
	const target = "With TYPE#NAME only this resource, and what it requires."
	return []repl.Command{
		{Name: "apply", Args: "[TYPE#NAME]", Doc: "Show the plan, ask, and make it so.", More: target, Takes: repl.ArgResource, Run: p.applyCommand},
		{Name: "clear", Doc: "Clear the screen.", Run: p.clearCommand},
		{Name: "data", Args: "[KEY]", Doc: "Print what was configured, or what is at KEY.", More: "A KEY is such as web.port.", Run: p.dataCommand},
		{Name: "diff", Args: "[TYPE#NAME]", Doc: "Say what .apply would do, with the texts that differ.", More: target, Takes: repl.ArgResource,
			Run: func(ctx context.Context, _ *repl.Dialog, arg string) error { return p.plan(ctx, arg, report.DiffFull) }},
		{Name: "edit", Args: "[FILE]", Doc: "Edit what was typed last, or FILE, and evaluate it.", More: "The editor is that of VISUAL or EDITOR, else vi.", Takes: repl.ArgFile, Run: p.editCommand},
		{Name: "plan", Args: "[TYPE#NAME]", Doc: "Say what .apply would do.", More: target, Takes: repl.ArgResource,
			Run: func(ctx context.Context, _ *repl.Dialog, arg string) error {
				return p.plan(ctx, arg, report.DiffMode(p.flags.diff.value))
			}},
		{Name: "show", Args: "TYPE#NAME", Doc: "Print the present state of a resource.", More: "It need not be declared.", Takes: repl.ArgResource, Run: p.showCommand},
	}
}

// functions returns the functions that look at the machine.
func (p *prompt) functions() []repl.Function {
	return []repl.Function{
		{Signature: "plan(id?: string): Events", Doc: "Returns what .apply would do, as a list of events. They are found by their ID too: plan()[\"file#/etc/motd\"].diff.", Call: p.planFunction},
		{Signature: "state(id: string): State", Doc: "Returns the present state of a resource. It need not be declared: state(\"file#/etc/motd\").mode.", Call: p.stateFunction},
		{Signature: "events(): Events", Doc: "Returns what the last plan or run told.", Call: func(context.Context, []any) (any, error) { return p.lastEvents(), nil }},
	}
}

func (p *prompt) lastEvents() liveEvents {
	if p.events == nil {
		return liveEvents{}
	}
	return p.events
}

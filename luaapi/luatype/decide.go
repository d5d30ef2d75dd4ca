package luatype

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/contract"
	"github.com/luaccm/ccm/runtime/schema"
)

// The verbs of the default decision, for types without decide.
const (
	create  = "create"
	update  = "update"
	remove  = "remove"
	refresh = "refresh"
)

// absent is the value of ensure that means that there is nothing.
const absent = "absent"

// secret stands for a secret in reports.
const secret = "(secret)"

func joined(dir, name string) string { return path.Join(dir, name) }

// isPhrase reports whether a phrase reads well after "Would have".
func isPhrase(s string) bool {
	return contract.Phrase().MatchString(s) && !strings.ContainsAny(s, "\r\n")
}

// phrase describes the action of a verb.
func (d *definition) phrase(verb string) string {
	if p, ok := d.phrases[verb]; ok {
		return p
	}
	past := map[string]string{create: "created", update: "updated", remove: "removed", refresh: "refreshed"}[verb]
	return past + " the " + strings.ReplaceAll(d.name, "_", " ")
}

// decideAny decides about a state that callStatus has returned.
func (d *definition) decideAny(want *resource.Properties, have any) resource.Decision {
	if d.decide != nil {
		return d.callDecide(want, have.(State))
	}
	return d.compare(want, have.(State))
}

// compare compares the wanted properties with the state, by name. Properties that were left out, or
// that the state does not have, are not compared.
func (d *definition) compare(want *resource.Properties, have State) (dec resource.Decision) {
	verb := update
	if d.schema.Field("ensure") != nil {
		desired, found := want.WantedEnsure(), have.CurrentEnsure()
		switch {
		case desired == absent && found == absent:
			return dec
		case desired == absent:
			verb = remove
		case found == absent:
			verb = create
		}
		if desired != found && desired != "" {
			dec.Add("ensure", found, desired)
		}
	}
	if verb != remove {
		d.compareProperties(want, have, verb, &dec)
	}
	if len(dec.Diff) > 0 {
		dec.AddAction(verb, d.phrase(verb))
	}
	return dec
}

func (d *definition) compareProperties(want *resource.Properties, have State, verb string, dec *resource.Decision) {
	for _, e := range want.Table().Entries {
		f := d.schema.Field(e.Key)
		if e.Key == "ensure" || f.IsName {
			continue
		}
		desired, found := e.Val.Go(), canonical(f, have.Data[e.Key])
		if found == nil && (verb != create || d.edit != nil) {
			continue // not compared; a report about a new resource lists all properties
		}
		if d.fields[e.Key].set {
			desired, found = sorted(desired), sorted(found)
		}
		if found != nil && same(desired, found) {
			continue
		}
		from, to := text(found), text(desired)
		switch {
		case f.Secret && found == nil:
			from, to = "", secret
		case f.Secret:
			from, to = secret, "(another secret)"
		case found == nil && to == "":
			to = `""`
		case from == to:
			from, to = distinctText(found, from), distinctText(desired, to)
		case have.shownValues[e.Key] != nil:
			to = text(have.shownValues[e.Key])
		}
		if from != to {
			dec.Add(e.Key, from, to)
		}
	}
}

// distinctText returns a text for a value that a report would show like a different value, such as
// the number 1 and the text "1", or two long texts.
func distinctText(v any, shown string) string {
	if s, ok := v.(string); ok && len(s) > maxShown {
		return fmt.Sprintf("%s (%08x)", shown, schema.CombineHashString(0, s)>>32)
	}
	return fmt.Sprintf("%s (%s)", shown, map[bool]string{true: "text", false: "data"}[reflect.TypeOf(v) == reflect.TypeFor[string]()])
}

// addRefresh adds the refresh that a change elsewhere causes. A resource that is created or removed
// needs none.
func (d *definition) addRefresh(want *resource.Properties, have any, dec resource.Decision) resource.Decision {
	if want.WantedEnsure() == absent || have.(State).CurrentEnsure() == absent {
		return dec
	}
	for _, a := range dec.Actions {
		if a.Verb == create || a.Verb == remove {
			return dec
		}
	}
	dec.AddAction(refresh, d.phrase(refresh))
	return dec
}

// luaDecision returns a decision as a table for the script.
func luaDecision(L *lua.LState, dec resource.Decision) *lua.LTable {
	row := func(texts ...string) *lua.LTable {
		t := L.CreateTable(len(texts), 0)
		for _, s := range texts {
			t.Append(lua.LString(s))
		}
		return t
	}
	diff, actions := L.CreateTable(0, 0), L.CreateTable(0, 0)
	for _, x := range dec.Diff {
		diff.Append(row(x.Property, x.Have, x.Want))
	}
	for _, a := range dec.Actions {
		actions.Append(row(a.Verb, a.Phrase))
	}
	t := L.CreateTable(0, 2)
	t.RawSetString("diff", diff)
	t.RawSetString("actions", actions)
	return t
}

// callDecide calls the script's decide. Besides the wanted properties and the state, decide gets a
// function that returns the default decision.
func (d *definition) callDecide(want *resource.Properties, have State) resource.Decision {
	L := d.values()
	compare := L.NewFunction(func(L *lua.LState) int {
		L.Push(luaDecision(L, d.compare(want, have)))
		return 1
	})
	out, err := d.invoke(d.lib.in.Outer(), access{function: "decide"}, d.decide, 1, d.luaWant(L, want), luaOf(L, have.Data), compare)
	if err == nil && out[0] != lua.LNil {
		var dec resource.Decision
		if dec, err = d.decisionOf(out[0]); err == nil {
			return dec
		}
	}
	return resource.Decision{Err: err}
}

// decisionOf reads a decision that a script has made.
func (d *definition) decisionOf(v lua.LValue) (dec resource.Decision, err error) {
	wrong := func(format string, args ...any) (resource.Decision, error) {
		return resource.Decision{}, d.blame(d.decide, "decide", format, args...)
	}
	t, ok := v.(*lua.LTable)
	if !ok {
		return wrong("%w", diag.Expected("a table such as { diff = ..., actions = ... }").Got("%s", describe(v)))
	}
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if !slices.Contains([]string{"diff", "actions", "text", "error", "uncertain"}, k.String()) {
			return wrong("%w", diag.Expected("diff, actions, text, error or uncertain").Got("%s", describe(k)))
		}
	}
	if e, ok := t.RawGetString("error").(lua.LString); ok {
		dec.Err = errors.New(string(e))
	}
	dec.Uncertain = lua.LVAsString(t.RawGetString("uncertain"))
	for i, row := range rows(t.RawGetString("diff")) {
		property, _ := column(row, 1, "property").(lua.LString)
		f := d.schema.Field(string(property))
		if f == nil {
			return wrong("diff[%d]: %w", i+1, diag.Expected("a property").Got("%s", describe(column(row, 1, "property"))))
		}
		from, err := d.lib.plain(column(row, 2, "have"), 0)
		to, err2 := d.lib.plain(column(row, 3, "want"), 0)
		if err := errors.Join(err, err2); err != nil {
			return wrong("diff[%d]: %w", i+1, err)
		}
		if f.Secret {
			from, to = secret, "(another secret)"
		}
		dec.Add(f.Name, text(from), text(to))
	}
	for i, row := range rows(t.RawGetString("actions")) {
		verb, _ := column(row, 1, "verb").(lua.LString)
		phrase, ok := column(row, 2, "phrase").(lua.LString)
		if !ok {
			phrase = lua.LString(d.phrases[string(verb)])
		}
		if verb == "" || !isPhrase(string(phrase)) {
			return wrong("actions[%d]: %w", i+1, diag.Expected(`a verb and a phrase that follows "Would have"`).Got("%s and %s", describe(verb), describe(phrase)))
		}
		dec.AddAction(string(verb), string(phrase))
		dec.Actions[len(dec.Actions)-1].Intent = lua.LVAsString(row.RawGetString("intent"))
	}
	if len(dec.Diff) > 0 && len(dec.Actions) == 0 && dec.Err == nil {
		return wrong("differences without an action: %s", dec)
	}
	dec.Text, err = d.textOf(t.RawGetString("text"))
	return dec, err
}

// rows returns the tables in a list.
func rows(v lua.LValue) (list []*lua.LTable) {
	t, ok := v.(*lua.LTable)
	for i := 1; ok && i <= t.Len(); i++ {
		row, ok := t.RawGetInt(i).(*lua.LTable)
		if !ok {
			row = &lua.LTable{Metatable: lua.LNil}
		}
		list = append(list, row)
	}
	return list
}

// column returns a value of a row by its position or its name.
func column(row *lua.LTable, n int, name string) lua.LValue {
	if v := row.RawGetString(name); v != lua.LNil {
		return v
	}
	return row.RawGetInt(n)
}

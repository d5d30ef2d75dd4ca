package state

import (
	"encoding/json"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// removalProtocol is that of the line of a removal.
const removalProtocol = "io.choria.ccm.v1.session.removal"

// A Removal is the removal of a thing by a run, for things that files do not bring back.
type Removal struct {
	Protocol string `json:"protocol"`
	Resource Name   `json:"resource"`
	// Declarations make the thing again: a list of [resource.Declaration].
	Declarations json.RawMessage `json:"declarations,omitempty"`
	// Ciphertext has the declarations if they hold secrets.
	Ciphertext []byte `json:"sealed,omitempty"`
	// done is set if the resource changed.
	done bool
}

// RecordRemoval implements converge.Journal.
func (r *RecordWriter) RecordRemoval(res *resource.Resource, how []resource.Declaration) error {
	text, err := json.Marshal(how)
	if err != nil {
		return err
	}
	x := Removal{Protocol: removalProtocol, Resource: Name(res.ID.String()), Declarations: text}
	if secrets := r.s.secretsIn(how); len(secrets) > 0 {
		if x.Ciphertext, err = r.s.sealText(text, secrets); err != nil {
			return err
		}
		x.Declarations = nil
	}
	if r.removals == nil {
		r.removals = make(map[resource.ID]bool)
	}
	r.removals[res.ID] = false
	return r.add(true, x)
}

// secretsIn returns the secrets in declarations, and adds them to the keeper.
func (s *Store) secretsIn(list []resource.Declaration) (secrets []string) {
	for _, d := range list {
		for _, text := range d.Secrets {
			if s.secrets.Add(text) == nil {
				secrets = append(secrets, text)
			}
		}
		for _, t := range []*schema.Table{d.Properties, d.Otherwise} {
			if t != nil {
				secrets = append(secrets, s.secrets.Within(schema.MapValue(t).Texts()...)...)
			}
		}
	}
	return secrets
}

// noteRemoval notes that a recorded removal was done.
func (r *RecordWriter) noteRemoval(e *event.Event) {
	if _, recorded := r.removals[e.Resource.ID]; recorded && e.Outcome == event.Changed {
		r.removals[e.Resource.ID] = true
	}
}

// removed counts the recorded removals that were done.
func (r *RecordWriter) removed() (n int) {
	for _, done := range r.removals {
		if done {
			n++
		}
	}
	return n
}

// Recreations returns the declarations that make again what a run removed, in the order in which they are to be
// applied: what was removed last comes first.
func (s *Store) Recreations(run *Record) (list []resource.Declaration, err error) {
	// A resource has two if others went with it, such as packages that need it: these come behind it.
	ordered := slices.Clone(run.removals)
	slices.Reverse(ordered)
	for i := 1; i < len(ordered); i++ {
		if ordered[i].Resource == ordered[i-1].Resource {
			ordered[i], ordered[i-1] = ordered[i-1], ordered[i]
		}
	}
	for _, x := range ordered {
		if !x.done && run.Summary != nil {
			continue // the removal failed, and its resource is there
		}
		if x.Ciphertext != nil {
			if x.Declarations, err = s.unsealText(x.Ciphertext); err != nil {
				return nil, err
			}
		}
		var how []resource.Declaration
		if err := json.Unmarshal(x.Declarations, &how); err != nil {
			return nil, err
		}
		list = append(list, how...)
	}
	return list, nil
}

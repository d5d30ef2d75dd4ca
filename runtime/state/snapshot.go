package state

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/jsonreader"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// A catalogEntry is a resource in the file of an applied catalog.
type catalogEntry struct {
	ID         Name            `json:"id"`
	Type       string          `json:"type"`
	File       string          `json:"file,omitempty"`
	Line       int             `json:"line,omitempty"`
	Properties json.RawMessage `json:"properties,omitempty"`
	// Ciphertext has the properties if they hold secrets.
	Ciphertext []byte `json:"sealed,omitempty"`
	// Lazy says that the resource has lazy values.
	Lazy bool `json:"lazy,omitempty"`
	// Made says that a run created the thing; only in the list of undeclared resources.
	Made bool `json:"made,omitempty"`

	table *schema.Table // the properties, if they are not in Properties
}

// sealedProperties is the plain text of catalogEntry.Ciphertext.
type sealedProperties struct {
	Properties json.RawMessage `json:"properties"`
	// Secrets are the secrets in the properties. A reader adds them to its keeper.
	Secrets []string `json:"secrets,omitempty"`
}

// writeCatalog writes the resources of list. An entry without a present declaration keeps its
// line of the old file.
func (a *appliedRecord) writeCatalog(list []snapshotEntry) error {
	if text := a.preparedText(list); text != nil {
		return a.s.dir.Replace(a.name()+catalogSuffix, a.durable(), statedir.Writing(text))
	}
	old := make(map[string]catalogEntry)
	if slices.ContainsFunc(list, func(x snapshotEntry) bool { return x.now == nil }) {
		// Damaged lines are left out: ccm drift does not know their resources then.
		_ = a.s.readCatalog(a.name(), func(d catalogEntry) { old[string(d.ID)] = d })
	}
	return a.s.dir.Replace(a.name()+catalogSuffix, a.durable(), func(w io.Writer) error {
		return statedir.Compress(w, func(z io.Writer) error {
			var line []byte
			var properties schema.Table // reused for each entry
			for _, x := range list {
				var err error
				line = line[:0]
				if x.now != nil {
					line, err = a.appendDeclared(line, x.now, &properties)
				} else if d, ok := old[x.id]; ok {
					line, err = d.appendLine(line)
				}
				if err == nil {
					_, err = z.Write(line)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// appendDeclared appends the line of a resource to b, or nothing if its properties cannot be
// expressed in JSON. Properties is a buffer.
func (a *appliedRecord) appendDeclared(b []byte, r *resource.Resource, properties *schema.Table) ([]byte, error) {
	if len(r.LazyProperties) > 0 {
		return b, nil
	}
	r.Type.Properties().EncodeInto(properties, r.Spec, r.Common)
	d := catalogEntry{
		ID: Name(r.ID.String()), Type: r.ID.Type, File: r.Pos.File, Line: r.Pos.Line, Lazy: a.lazy[r.ID] != nil,
		table: properties,
	}
	if len(r.Sensitive) > 0 {
		var err error
		if d.Properties, err = d.table.MarshalJSON(); err != nil {
			return b, nil
		}
		if d.table, err = nil, a.s.seal(&d, r); err != nil {
			return b, err
		}
	}
	if line, err := d.appendLine(b); err == nil {
		return line, nil
	}
	return b, nil
}

// seal seals the properties of a resource.
func (s *Store) seal(d *catalogEntry, r *resource.Resource) error {
	var err error
	d.Ciphertext, err = s.sealText(d.Properties, s.secrets.Within(schema.MapValue(r.Properties()).Texts()...))
	d.Properties = nil
	return err
}

// sealText returns the ciphertext of a text in JSON that holds secrets.
func (s *Store) sealText(text json.RawMessage, secrets []string) ([]byte, error) {
	plain, err := json.Marshal(sealedProperties{Properties: text, Secrets: secrets})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := s.secrets.Seal(&b)
	if err == nil {
		_, err = w.Write(plain)
		err = errors.Join(err, w.Close())
	}
	return b.Bytes(), err
}

// unseal is the inverse of seal. It adds the secrets to the keeper.
func (s *Store) unseal(d *catalogEntry) error {
	if d.Ciphertext == nil {
		return nil
	}
	var err error
	d.Properties, err = s.unsealText(d.Ciphertext)
	return err
}

// unsealText is the inverse of sealText. It adds the secrets to the keeper.
func (s *Store) unsealText(ciphertext []byte) (json.RawMessage, error) {
	r, err := s.secrets.Open(bytes.NewReader(ciphertext))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var u sealedProperties
	if err := json.Unmarshal(text, &u); err != nil {
		return nil, err
	}
	for _, value := range u.Secrets {
		_ = s.secrets.Add(value) // it was accepted once
	}
	return u.Properties, nil
}

// readCatalog calls each for every line of an applied catalog.
func (s *Store) readCatalog(name string, each func(catalogEntry)) error {
	return readEntries(s, name+catalogSuffix, each)
}

// readEntries calls each for every line of a file of resources.
func readEntries(s *Store, file string, each func(catalogEntry)) error {
	return eachLine(s, file, each)
}

// eachLine calls each for every line of a compressed file.
func eachLine[T any](s *Store, file string, each func(T)) error {
	f, err := s.dir.Open(file, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return err
	}
	for r := bufio.NewReader(z); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		var d T
		if err := jsonreader.Unmarshal(line, &d); err != nil {
			return err
		}
		each(d)
	}
}

// An AppliedResource is a resource of an applied catalog.
type AppliedResource struct {
	ID resource.ID
	// Pos is where it was declared; zero if that is not recorded.
	Pos diag.Pos
}

// AppliedResources returns the resources of the applied catalog in their order, without what was wanted of them. There are
// none if the site has no applied catalog on the root.
func (s *Store) AppliedResources(site, root string) ([]AppliedResource, error) {
	var list []AppliedResource
	err := s.readCatalog(s.appliedName(site, root), func(d catalogEntry) {
		if id, err := resource.ParseID(string(d.ID)); err == nil {
			list = append(list, AppliedResource{id, diag.Pos{File: d.File, Line: d.Line}})
		}
	})
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

// A MissingRecord is a resource that was in order after a run and whose desired state is not
// recorded.
type MissingRecord struct{ ID, Reason string }

// Catalog returns the applied catalog. Types are looked up in reg. Resources that cannot be read
// are returned separately, in order of name. A damaged file is set aside; the next run writes it
// again.
func (s *Store) Catalog(a AppliedHeader, reg *resource.Registry) (*catalog.Catalog, []MissingRecord, error) {
	var list []*resource.Resource
	var errs diag.List
	past := &appliedRecord{s: s, site: a.Site, root: a.Root, readOnly: true}
	past.load()
	var unknown []MissingRecord
	missing := make(map[string]bool, len(past.last.list))
	for _, w := range past.last.list {
		missing[w.id] = true
	}
	err := s.readCatalog(a.name, func(d catalogEntry) {
		delete(missing, string(d.ID))
		t := reg.Type(d.Type)
		if t == nil {
			unknown = append(unknown, MissingRecord{string(d.ID), "unknown type " + d.Type})
			return
		}
		if err := s.unseal(&d); err != nil {
			errs.Add(fmt.Errorf("%s: %w", string(d.ID), err))
			return
		}
		tab := new(schema.Table)
		if err := tab.UnmarshalJSON(d.Properties); err != nil {
			errs.Add(fmt.Errorf("%s: %w", string(d.ID), err))
			return
		}
		pos := diag.Pos{File: d.File, Line: d.Line}
		tab.Positions = schema.FixedPosition(pos)
		r, err := t.Decode(tab, resource.Origin{Pos: pos})
		if err == nil {
			list = append(list, r)
		}
		errs.Add(err)
	})
	// A prune that leaves nothing removes the file.
	if err != nil && !(errors.Is(err, os.ErrNotExist) && len(past.last.list) == 0) {
		if !errors.Is(err, os.ErrNotExist) {
			s.dir.SetAside(a.name+catalogSuffix, "damaged", s.clock.Now())
			_ = s.dir.Remove(a.name + catalogSuffix)
		}
		return nil, nil, diag.Cannot("read", fmt.Sprintf("the applied state of %s", a.Site), err)
	}
	if err := errs.Err(); err != nil {
		return nil, nil, err
	}
	_ = catalog.MarkSecrets(s.secrets, list) // an error does not matter: nothing of the catalog is run
	for id := range missing {
		unknown = append(unknown, MissingRecord{id, "no run has recorded its desired state"})
	}
	slices.SortFunc(unknown, func(a, b MissingRecord) int { return strings.Compare(a.ID, b.ID) })
	c, err := build(withoutStrangers(list))
	if err != nil && a.Site == "" {
		// Resources that were declared at different times may contradict each other in their order.
		for _, r := range list {
			r.Common = new(*r.Common)
			r.Common.Alias = ""
			r.Common.Require, r.Common.Before, r.Common.Notify, r.Common.Subscribe = nil, nil, nil, nil
		}
		c, err = build(list)
	}
	return c, unknown, err
}

func build(list []*resource.Resource) (*catalog.Catalog, error) {
	var b catalog.Builder
	var errs diag.List
	for _, r := range list {
		_, err := b.Add(r)
		errs.Add(err)
	}
	c, err := b.Build()
	errs.Add(err)
	return c, errs.Err()
}

// withoutStrangers removes references to resources that are not in list because they were never
// in order.
func withoutStrangers(list []*resource.Resource) []*resource.Resource {
	there := make(map[resource.Reference]bool)
	for _, r := range list {
		there[resource.Reference(r.ID)] = true
		if r.Common.Alias != "" {
			there[resource.Reference{Type: r.ID.Type, Name: r.Common.Alias}] = true
		}
	}
	for _, r := range list {
		if r.Common == resource.EmptyCommon {
			continue
		}
		for _, refs := range []*[]resource.Reference{&r.Common.Require, &r.Common.Before, &r.Common.Notify, &r.Common.Subscribe} {
			*refs = slices.DeleteFunc(*refs, func(ref resource.Reference) bool { return !there[ref] })
		}
	}
	return list
}

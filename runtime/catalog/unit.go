package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// MaxDepth is how deep manifests and scripts may apply one another.
const MaxDepth = 10

// A Unit is one script or manifest that declares resources.
type Unit struct {
	// Name is the name in messages.
	Name string
	// Dir is the directory of relative paths in the unit.
	Dir string
	// Scope is the scope of all resources that the unit declares.
	Scope *resource.Scope
	// Data is the data that the applying resource gives it.
	Data map[string]any
	// Calls is the chain of applications that led here, the last first.
	Calls []diag.Note

	units  *Units
	sealed bool              // the unit may apply nothing
	prefix string            // of the names of its children in the catalog, "" at the root
	names  map[string]string // names of its children in the catalog, by the names as written
}

// Units is what all units of one run share.
type Units struct {
	// Builder takes the declared resources.
	Builder *Builder
	// ReadFile reads the text of a child.
	ReadFile func(path string) ([]byte, error)
	// Load declares the resources of a text by [Unit.Add].
	Load func(ctx context.Context, u *Unit, text string) error
}

// Root returns the unit with which a run begins. Relative paths in it begin in dir.
func (us *Units) Root(name, dir string) *Unit {
	return &Unit{Name: name, Dir: dir, Scope: &resource.Scope{File: name}, units: us}
}

// addTrace adds to each mistake the chain of applications that led to the unit.
func (u *Unit) addTrace(err error) error {
	if err == nil || len(u.Calls) == 0 {
		return err
	}
	var list diag.List
	list.Add(err)
	for i, e := range list {
		if !slices.Contains(e.Notes, u.Calls[len(u.Calls)-1]) {
			c := *e
			c.Notes = append(slices.Clip(c.Notes), u.Calls...)
			list[i] = &c
		}
	}
	return list.Err()
}

// Add adds a resource of this unit to the catalog. If the resource applies a child, the child's
// resources are added first.
func (u *Unit) Add(ctx context.Context, r *resource.Resource) (*resource.Resource, error) {
	u.rename(r)
	if r.Skip == "" && resource.TraitsOf(r.Spec).Child != nil {
		return u.apply(ctx, r)
	}
	return u.units.Builder.Add(r)
}

// AddInvalid notes a resource of this unit whose mistakes were reported.
func (u *Unit) AddInvalid(r *resource.Resource) {
	u.rename(r)
	u.units.Builder.AddInvalid(r)
}

// childName returns the name in the catalog of a resource that applies a child. As written, the
// name is relative to the unit, and other units may use the same one.
func (u *Unit) childName(name string) string {
	if u.prefix == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(u.prefix, name)
}

// rename gives r, if it applies a child, its unique name in the catalog, and renames its
// references to such resources.
func (u *Unit) rename(r *resource.Resource) {
	if resource.TraitsOf(r.Spec).Child != nil {
		if name := u.childName(r.ID.Name); name != r.ID.Name {
			if u.names == nil {
				u.names = make(map[string]string)
			}
			u.names[r.ID.Type+"#"+r.ID.Name] = name
			r.ID.Name = name
		}
	}
	if u.prefix == "" {
		return
	}
	for _, refs := range [][]resource.Reference{r.Common.Require, r.Common.Before, r.Common.Notify, r.Common.Subscribe} {
		for i, ref := range refs {
			if name, ok := u.names[ref.String()]; ok {
				refs[i].Name = name
			}
		}
	}
}

// apply loads the child of r, and adds r behind the child's resources.
func (u *Unit) apply(ctx context.Context, r *resource.Resource) (*resource.Resource, error) {
	child := resource.TraitsOf(r.Spec).Child()
	if u.sealed {
		return nil, u.applyError(r, "cannot apply here: %s is applied with allow_apply = false", u.Name)
	}
	if u.Scope.Depth() >= MaxDepth {
		return nil, u.applyError(r, "manifests are nested more than %d deep: %s", MaxDepth, u.chain(child.Path))
	}
	if first := u.units.Builder.Get(r.ID); first != nil && first.Skip == "" {
		return u.units.Builder.Add(r) // it is equal to the first one, or a mistake
	}
	path := u.PathOf(child.Path)
	text, err := u.units.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, u.applyError(r, "no file %s", path)
	}
	if err != nil {
		return nil, u.applyError(r, "%w", err)
	}
	c := &Unit{
		Name: u.NameOf(child.Path), Dir: filepath.Dir(path), Data: child.Data, units: u.units, sealed: !child.MayApply,
		prefix: filepath.Dir(r.ID.Name),
		Scope:  &resource.Scope{Apply: r.ID, Parent: u.Scope, Restraint: max(u.Scope.Restraint, child.Restraint)},
		Calls:  append([]diag.Note{{Pos: r.Pos, Text: "applied from here"}}, u.Calls...),
	}
	c.Scope.File = c.Name
	if err := c.addTrace(u.units.Load(ctx, c, string(text))); err != nil {
		return nil, err
	}
	return u.units.Builder.Add(r)
}

// NameOf returns the name in messages of a file whose path is relative to the file of u.
func (u *Unit) NameOf(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(u.Name), path)
}

// PathOf returns the path of a file from a path that is relative to the file of u.
func (u *Unit) PathOf(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(u.Dir, path)
}

// applyError returns the mistake that r cannot be applied.
func (u *Unit) applyError(r *resource.Resource, format string, args ...any) error {
	return &diag.Error{Pos: r.Pos, Subject: r.ID.String(), Err: fmt.Errorf(format, args...), Notes: r.Calls}
}

// chain lists all units from the root to next, for messages.
func (u *Unit) chain(next string) string {
	names := []string{u.NameOf(next)}
	for s := u.Scope; s != nil; s = s.Parent {
		names = append(names, s.File)
	}
	slices.Reverse(names)
	return strings.Join(names, " → ")
}

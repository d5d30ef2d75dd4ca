package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/apk"
	"github.com/luaccm/ccm/providers/apt"
	"github.com/luaccm/ccm/providers/brew"
	"github.com/luaccm/ccm/providers/ccmmanifest"
	"github.com/luaccm/ccm/providers/choria"
	"github.com/luaccm/ccm/providers/dnf"
	"github.com/luaccm/ccm/providers/http"
	"github.com/luaccm/ccm/providers/openrc"
	"github.com/luaccm/ccm/providers/pacman"
	"github.com/luaccm/ccm/providers/pkg"
	"github.com/luaccm/ccm/providers/posix"
	"github.com/luaccm/ccm/providers/systemd"
	"github.com/luaccm/ccm/providers/sysvinit"
	"github.com/luaccm/ccm/providers/zypper"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// NewRegistry returns the types and providers that ship with ccm: one line for each folder in
// providers. Templates of scaffolds see env. Scripts can add types; types of shipped modules are
// added when they are looked up.
func NewRegistry(env *TemplateEnv) (*resource.Registry, error) {
	all := slices.Concat(
		apk.Providers(),
		apt.Providers(),
		brew.Providers(),
		ccmmanifest.Providers(),
		choria.Providers(env.scaffold),
		dnf.Providers(),
		http.Providers(),
		openrc.Providers(),
		pacman.Providers(),
		pkg.Providers(),
		posix.Providers(),
		systemd.Providers(),
		sysvinit.Providers(),
		zypper.Providers(),
	)
	if p := env.process; p != nil {
		for _, x := range p.Substitutes {
			all = slices.DeleteFunc(all, func(f resource.Binding) bool { return f.Type == x.Type })
		}
		all = slices.Concat(all, p.Substitutes, p.Providers)
	}
	reg, err := resource.NewRegistry(all...)
	if err != nil {
		return nil, err
	}
	return reg.WithFinder(env.findShipped), nil
}

// Documented returns the registry with the documentation of its schemas, read from the source of
// their declarations. It is not for runs.
func Documented() (*resource.Registry, error) {
	reg, err := NewRegistry(new(TemplateEnv))
	if err != nil {
		return nil, err
	}
	var own []*schema.Schema
	for _, t := range reg.Types() {
		own = append(own, t.Schema())
	}
	if err := schema.Document(resources.Source, own...); err != nil {
		return nil, err
	}
	return reg, schema.Document(resource.Source, resource.CommonSchema())
}

// UnknownType returns the error about an unknown type. Its hint separates a reference such as file#/etc/motd, as
// reports print it, into a type and a name.
func UnknownType(reg *resource.Registry, name string) error {
	AddShipped(reg)
	err := diag.At(diag.Pos{}, diag.Unknown("resource type", name, reg.TypeNames()))
	switch typ, rest, isID := strings.Cut(name, "#"); {
	case isID && reg.Type(typ) != nil:
		err.Hint = fmt.Sprintf("separate type and name: %s %s", typ, rest)
	case err.Hint == "":
		err.Hint = "list types with: ccm docs"
	}
	return err
}

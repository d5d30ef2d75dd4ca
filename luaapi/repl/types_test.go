package repl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// The types of these tests.

type fileEnsure string

func (fileEnsure) Values() []string { return []string{"present", "absent", "directory"} }

type fileProps struct {
	Path     string     `ccm:"path,name"`
	Ensure   fileEnsure `ccm:"ensure,default=present"`
	Content  *string    `ccm:"content,alias=contents"`
	Owner    string     `ccm:"owner"`
	Mode     string     `ccm:"mode"`
	Force    bool       `ccm:"force"`
	Password string     `ccm:"password,secret"`
}

func (f fileProps) Validate() error {
	if !strings.HasPrefix(f.Path, "/") {
		return resource.PropertyErrorf("path", "expected an absolute path, got %q", f.Path)
	}
	return nil
}
func (fileProps) Decide(struct{}) resource.Decision { return resource.Decision{} }

func (fileProps) Perform(context.Context, *host.Host, fake[fileProps], resource.Action) error {
	return nil
}

type serviceProps struct {
	Name   string `ccm:"name,name"`
	Enable *bool  `ccm:"enable"`
}

func (serviceProps) Validate() error                   { return nil }
func (serviceProps) Decide(struct{}) resource.Decision { return resource.Decision{} }

func (serviceProps) Perform(context.Context, *host.Host, fake[serviceProps], resource.Action) error {
	return nil
}

func (serviceProps) Refresh(_ struct{}, d resource.Decision) resource.Decision { return d }

// fake is a provider that does nothing.
type fake[P any] struct{}

func (fake[P]) Status(context.Context, *host.View, P) (struct{}, error) { return struct{}{}, nil }

func registry(t testing.TB) *resource.Registry {
	t.Helper()
	reg, err := resource.NewRegistry(
		resource.Define[fileProps, struct{}, fake[fileProps]]("file").Provide("posix", resource.Always[fileProps](1), fake[fileProps]{}),
		resource.Define[serviceProps, struct{}, fake[serviceProps]]("service").Provide("systemd", resource.Always[serviceProps](1), fake[serviceProps]{}),
	)
	require.NoError(t, err)
	return reg
}

// shipped is a type that a shipped module defines.
func shipped(t testing.TB) *resource.Type {
	reg, err := resource.NewRegistry(resource.Define[fileProps, struct{}, fake[fileProps]]("line").Provide("lua", resource.Always[fileProps](1), fake[fileProps]{}))
	require.NoError(t, err)
	return reg.Type("line")
}

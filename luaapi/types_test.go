package luaapi_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// The types of these tests: small, and together with all kinds of properties.

type mode string

func (m *mode) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 8, 32)
	if err != nil || n > 0o777 {
		return fmt.Errorf("expected octal permissions such as %q, got %q", "0644", text)
	}
	*m = mode(fmt.Sprintf("%04o", n))
	return nil
}

type ensure string

func (ensure) Values() []string { return []string{"present", "absent", "directory"} }

type fileProps struct {
	Path    string  `ccm:"path,name"`
	Ensure  ensure  `ccm:"ensure,default=present"`
	Content *string `ccm:"content,alias=contents"`
	Source  string  `ccm:"source"`
	Owner   string  `ccm:"owner"`
	Group   string  `ccm:"group"`
	Mode    *mode   `ccm:"mode"`
	Force   bool    `ccm:"force"`
	Size    int     `ccm:"size"`
	dir     string
}

func (f fileProps) Validate() error {
	if !strings.HasPrefix(f.Path, "/") {
		return resource.PropertyErrorf("path", "expected an absolute path, got %q", f.Path)
	}
	if f.Content != nil && f.Source != "" {
		return resource.PropertyErrorf("content", "content and source exclude each other")
	}
	return nil
}

func (f fileProps) Decide(struct{}) resource.Decision { return resource.Decision{} }

func (f fileProps) Perform(context.Context, *host.Host, fake[fileProps], resource.Action) error {
	return nil
}

func (f *fileProps) ResolvePaths(dir string) { f.dir = dir }

type execProps struct {
	Name        string            `ccm:"name,name"`
	Command     string            `ccm:"command"`
	Args        []string          `ccm:"args"`
	Environment map[string]string `ccm:"environment"`
	Limits      *limits           `ccm:"limits"`
	Data        any               `ccm:"data"`
	Refreshonly bool              `ccm:"refreshonly,alias=refresh_only"`
}

type limits struct {
	CPU    float64 `ccm:"cpu"`
	Memory int     `ccm:"memory"`
}

func (execProps) Validate() error                   { return nil }
func (execProps) Decide(struct{}) resource.Decision { return resource.Decision{} }
func (execProps) Traits() resource.Traits           { return resource.Traits{VerifiesItself: true} }

func (execProps) Perform(context.Context, *host.Host, fake[execProps], resource.Action) error {
	return nil
}

func (execProps) Refresh(_ struct{}, d resource.Decision) resource.Decision { return d }

type packageProps struct {
	Name   string `ccm:"name,name"`
	Ensure string `ccm:"ensure,default=present"`
}

func (p packageProps) Validate() error {
	if strings.Contains(p.Name, " ") {
		return errors.New("a name has no spaces")
	}
	return nil
}
func (packageProps) Decide(struct{}) resource.Decision { return resource.Decision{} }

func (packageProps) Perform(context.Context, *host.Host, fake[packageProps], resource.Action) error {
	return nil
}

// fake is a provider that does nothing.
type fake[P any] struct{}

func (fake[P]) Status(context.Context, *host.View, P) (struct{}, error) { return struct{}{}, nil }

func registry(t testing.TB) *resource.Registry {
	t.Helper()
	reg, err := resource.NewRegistry(
		resource.Define[fileProps, struct{}, fake[fileProps]]("file").Provide("fake", resource.Always[fileProps](1), fake[fileProps]{}),
		resource.Define[execProps, struct{}, fake[execProps]]("exec").Provide("fake", resource.Always[execProps](1), fake[execProps]{}),
		resource.Define[packageProps, struct{}, fake[packageProps]]("package").Provide("fake", resource.Always[packageProps](1), fake[packageProps]{}),
	)
	require.NoError(t, err)
	return reg
}

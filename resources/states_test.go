package resources

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// The fields are those of the metadata in the design documents, and unknown values are left out.
func TestMetadata(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, x := range []struct {
		state resource.Describer
		want  string
	}{
		{FileState{Kind: safepath.Regular, Checksum: "ab", Owner: "root", Group: "adm", Mode: 0o4640, MTime: at, Size: 0},
			`{"name":"n","checksum":"ab","owner":"root","group":"adm","mode":"4640","provider":"p","mtime":"2026-01-02T03:04:05Z","size":0}`},
		{FileState{Kind: safepath.Directory, Owner: "root", Group: "root", Mode: 0o755, MTime: at, Size: 4096},
			`{"name":"n","owner":"root","group":"root","mode":"0755","provider":"p","mtime":"2026-01-02T03:04:05Z"}`},
		{FileState{Kind: safepath.Symlink, Target: "x", Owner: "root", Group: "root", Mode: 0o777, MTime: at},
			`{"name":"n","owner":"root","group":"root","mode":"0777","provider":"p","mtime":"2026-01-02T03:04:05Z","target":"x"}`},
		{FileState{}, `{"name":"n","provider":"p"}`},
		{PackageState{Metadata: PackageMetadata{Name: "n", Version: "1-2", Arch: "amd64", Provider: "apt", Extension: PackageExtension{Epoch: "0"}}},
			`{"name":"n","version":"1-2","arch":"amd64","provider":"apt","extended":{"epoch":"0"}}`},
		{PackageState{}, `{"name":"n","provider":"p"}`},
		{ServiceState{Running: true, Active: "active", Startup: "disabled"},
			`{"name":"n","provider":"p","enabled":false,"running":true,"active":"active","startup":"disabled"}`},
		{ServiceState{Missing: true}, `{"name":"n","provider":"p","missing":true}`},
		{ExecState{CreatesSatisfied: true}, `{"name":"n","provider":"p","creates_satisfied":true}`},
		{ExecState{OnlyIfSatisfied: new(false)}, `{"name":"n","provider":"p","creates_satisfied":false,"onlyif_satisfied":false}`},
	} {
		text, err := json.Marshal(x.state.Describe("n", "p"))
		require.NoError(t, err)
		require.JSONEq(t, x.want, string(text))
	}
}

// imported imports a state of the type.
func imported[P any](t *testing.T, s resource.Importer[P], im resource.Import) P {
	t.Helper()
	p, err := s.Import(im)
	require.NoError(t, err)
	return p
}

// An imported resource is stable.
func TestImport(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "small"), []byte("hi\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "large"), []byte(strings.Repeat("x", 5000)), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "binary"), []byte{0}, 0o644))
	kept := map[string]int{}
	of := func(name string) resource.Import {
		return resource.Import{Name: name, View: &host.New(host.Options{Root: root}).View, StoreFile: func(content []byte) (string, error) {
			kept[name] = len(content)
			return "files" + name, nil
		}}
	}
	regular := FileState{Kind: safepath.Regular, UID: 1, GID: 2, WantUID: 1, WantGID: 2, Owner: "daemon", Group: "bin", Mode: 0o640}
	f := imported(t, regular, of("/small"))
	require.Equal(t, "hi\n", *f.Content)
	require.Empty(t, f.Decide(regular).Diff)
	require.NoError(t, f.Validate())
	require.Equal(t, "files/large", *imported(t, regular, of("/large")).Source)
	require.Equal(t, "files/binary", *imported(t, regular, of("/binary")).Source)
	require.Equal(t, map[string]int{"/large": 5000, "/binary": 1}, kept)
	dir := FileState{Kind: safepath.Directory, Owner: "root", Group: "root", Mode: 0o755}
	require.Empty(t, imported(t, dir, of("/d")).Decide(dir).Diff)

	setgid := FileState{Kind: safepath.Directory, Owner: "root", Group: "root", Mode: 0o2755}
	require.True(t, imported(t, setgid, of("/d")).SpecialBits)
	require.NoError(t, imported(t, setgid, of("/d")).Validate())
	require.Empty(t, imported(t, setgid, of("/d")).Decide(setgid).Diff)

	pkg := PackageState{Metadata: PackageMetadata{Name: "zsh", Version: "5.9"}}
	require.True(t, imported(t, pkg, of("zsh")).Decide(pkg).Stable())
	for _, s := range []ServiceState{{Running: true, Enabled: true}, {}, {Running: true, Enabled: true, Startup: "static", CannotEnable: "it is static"}, {Masked: true}} {
		require.True(t, imported(t, s, of("x")).Decide(s).Stable(), "%+v", s)
	}

	for want, s := range map[string]resource.Importer[File]{
		"no such file or directory":      FileState{},
		"found a symbolic link to x":     FileState{Kind: safepath.Symlink, Target: "x"},
		"found a device, socket or pipe": FileState{Kind: safepath.Special},
	} {
		_, err := s.Import(of("/small"))
		require.ErrorContains(t, err, want)
	}
	_, err := regular.Import(of("/gone"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = PackageState{Problem: "half-configured"}.Import(of("x"))
	require.ErrorContains(t, err, "found it half-configured")
	_, err = ServiceState{Missing: true}.Import(of("x"))
	require.ErrorContains(t, err, "no such service")
	_, err = ExecType.Type.Import(ExecState{}, of("x"))
	require.True(t, errors.Is(err, resource.ErrNotImportable))
	require.True(t, FileType.Type.Importable())
}

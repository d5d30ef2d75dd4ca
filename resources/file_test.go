package resources

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/filecap"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// The tables of modes of the file document.
func TestMode(t *testing.T) {
	for _, x := range []struct{ in, out, err string }{
		{in: "0644", out: "0644"},
		{in: "644", out: "0644"},
		{in: "0o755", out: "0755"},
		{in: "0O700", out: "0700"},
		{in: "0", out: "0000"},
		{in: "7xx", out: "07xx"},
		{in: "0x5x", out: "0x5x"},
		{in: "0888", err: `expected octal permissions such as "0644", got "0888"`},
		{in: "1777", out: "1777"},
		{in: "0o2775", out: "2775"},
		{in: "2x7x", out: "2x7x"},
		{in: "x755", out: "x755"},
		{in: "00755", err: `expected at most four digits such as "0644", got "00755"`},
		{in: "8777", err: `expected octal permissions such as "0644", got "8777"`},
		{in: "rw-r--r--", err: `expected octal permissions such as "0644", got "rw-r--r--"`},
		{in: "rw", err: `expected octal permissions such as "0644", got "rw"`},
		{in: "", err: `expected octal permissions such as "0644", got ""`},
		{in: "+644", err: `expected octal permissions such as "0644", got "+644"`},
		{in: "x", err: `expected three digits such as "7x5" where x is used, got "x"`},
	} {
		var m Mode
		err := m.UnmarshalText([]byte(x.in))
		if x.err != "" {
			require.EqualError(t, err, x.err)
			continue
		}
		require.NoError(t, err, x.in)
		require.Equal(t, x.out, m.String())
	}
	var m Mode
	require.NoError(t, m.UnmarshalText([]byte("7x5")))
	require.True(t, m.Matches(0o725))
	require.False(t, m.Matches(0o724))
	require.Equal(t, uint32(0o725), m.Over(0o620))
	require.True(t, m.Matches(0o4725))
	require.Equal(t, uint32(0o4725), m.Over(0o4620))
	require.False(t, ModeOf(0o755).Matches(0o4755), "setuid is not wanted")
	require.False(t, ModeOf(0o2755).Matches(0o755))
	require.Equal(t, uint32(0o2755), ModeOf(0o2755).Over(0o4700))
	require.NoError(t, m.UnmarshalText([]byte("2x7x")))
	require.True(t, m.Matches(0o2775))
	require.False(t, m.Matches(0o775))
}

// The validation rules of the file document.
func TestFileValidate(t *testing.T) {
	good := File{Name: "/f", Ensure: FilePresent, Owner: "root", Group: "root", Mode: new(ModeOf(0o644))}
	require.NoError(t, good.Validate())
	require.NoError(t, File{Name: "/f", Ensure: FileAbsent}.Validate())
	require.NoError(t, File{Name: "/f", Ensure: FileExisting, Group: "app"}.Validate())
	require.NoError(t, File{Name: "/f", Ensure: FileExisting, Capabilities: bind}.Validate())
	require.NoError(t, File{Name: "/f", Ensure: FileDirectory, Owner: "root", Group: "root", Mode: new(ModeOf(0o2775)), SpecialBits: true}.Validate())
	for _, x := range []struct {
		change func(*File)
		err    string
	}{
		{func(f *File) { f.Name = "etc/motd" }, `name: expected an absolute path, got "etc/motd"`},
		{func(f *File) { f.Name = "/etc/../motd" }, `name: expected a path without . or .. or doubled slashes, got "/etc/../motd"`},
		{func(f *File) { f.Name = "/etc//motd" }, `name: expected a path without . or .. or doubled slashes, got "/etc//motd"`},
		{func(f *File) { f.Name = "/etc/" }, `name: expected a path without . or .. or doubled slashes, got "/etc/"`},
		{func(f *File) { f.Owner = "" }, `owner is required, except with ensure = "absent" or "existing"`},
		{func(f *File) { f.Group = "" }, `group is required, except with ensure = "absent" or "existing"`},
		{func(f *File) { f.Mode = nil }, `mode is required, except with ensure = "absent" or "existing"`},
		{func(f *File) { f.Owner, f.Group, f.Mode = "", "", nil }, `owner, group and mode are required, except with ensure = "absent" or "existing"`},
		{func(f *File) { f.Content, f.Source = new("x"), new("/y") }, "source: cannot be used together with content"},
		{func(f *File) { f.Source = new("") }, "source: expected a path, got an empty string"},
		{func(f *File) { f.Ensure, f.Content = FileDirectory, new("x") }, "content: a directory cannot have content"},
		{func(f *File) { f.Ensure, f.Source = FileDirectory, new("x") }, "source: a directory cannot have content"},
		{func(f *File) { f.Ensure, f.Owner, f.Group, f.Mode = FileExisting, "", "", nil }, "ensure: existing requires owner, group, mode or capabilities"},
		{func(f *File) { f.Ensure, f.Content = FileExisting, new("") }, "content: existing does not manage the content"},
		{func(f *File) { f.Ensure, f.Source = FileExisting, new("/x") }, "source: existing does not manage the content"},
		{func(f *File) { f.Ensure, f.CheckAfter = FileExisting, []string{"true"} }, "validate_after: requires ensure present or absent"},
		{func(f *File) { f.Ensure, f.Check = FileExisting, []string{"true %s"} }, "validate: requires ensure present"},
		{func(f *File) { f.Ensure, f.Check = FileAbsent, []string{"true %s"} }, "validate: checks a content, which requires ensure present"},
		{func(f *File) { f.Ensure, f.Force, f.CheckAfter = FileAbsent, true, []string{"true"} }, "validate_after: cannot be used together with force: a directory cannot be restored"},
		{func(f *File) { f.Mode = new(ModeOf(0o1777)) }, `mode: must be at most 0777, got "1777", whose first digit is setuid, setgid and sticky`},
		{func(f *File) { f.Ensure, f.Capabilities = FileDirectory, bind }, "capabilities: a directory cannot have capabilities"},
		{func(f *File) { f.Ensure, f.Capabilities = FileAbsent, bind }, "capabilities: requires ensure present or existing"},
		{func(f *File) { f.Force = true }, "force: requires ensure absent"},
		{func(f *File) { f.ContentOnce = true }, "content_once: requires content or source"},
		{func(f *File) { *f = File{Name: "/", Ensure: FileAbsent, Force: true} }, "ensure: / cannot be removed"},
	} {
		f := good
		x.change(&f)
		require.EqualError(t, f.Validate(), x.err)
	}
}

// TestFileExisting: only the given attributes of an existing file are managed.
func TestFileExisting(t *testing.T) {
	group := File{Name: "/f", Ensure: FileExisting, Group: "app"}
	mode := File{Name: "/f", Ensure: FileExisting, Mode: new(ModeOf(0o600))}
	for _, x := range []struct {
		want File
		have FileState
		diff string
		mode uint32 // afterwards
	}{
		{group, FileState{Kind: safepath.Regular, Mode: 0o644}, "", 0},
		{group, FileState{Kind: safepath.Regular, Mode: 0o644, WantGID: 7, Group: "root"}, "group: root → app", 0o644},
		{group, FileState{Kind: safepath.Directory, Mode: 0o2775, WantGID: 7, Group: "root"}, "group: root → app", 0o2775},
		{group, FileState{Kind: safepath.Regular, Mode: 0o4755, WantGID: 7, Group: "root"}, "group: root → app, mode: 4755 → 0755", 0o755},
		{mode, FileState{Kind: safepath.Regular, Mode: 0o644}, "mode: 0644 → 0600", 0o600},
		{mode, FileState{Kind: safepath.Directory, Mode: 0o600}, "", 0},
	} {
		d := x.want.Decide(x.have)
		require.NoError(t, d.Err)
		require.Equal(t, x.diff, d.String())
		if x.diff == "" {
			require.Empty(t, d.Actions)
			continue
		}
		require.Equal(t, "SetAttributes", d.Actions[0].Verb)
		require.Equal(t, []overlay.PathEffect{{Path: "/f", Kind: x.have.Kind, Kept: x.have.Kind == safepath.Regular, Attr: &safepath.Attr{GID: x.have.WantGID, Mode: x.mode}}}, d.Effects)
	}
	for kind, message := range map[safepath.FileKind]string{
		safepath.Missing: "expected an existing file or directory, found nothing",
		safepath.Symlink: "expected a file, found a symbolic link to /g, which is not followed (set links = \"follow\" to manage its target)",
		safepath.Special: "expected a file, found a device, socket or pipe, which is not replaced",
	} {
		require.EqualError(t, mode.Decide(FileState{Kind: kind, Target: "/g"}).Err, message)
	}
}

// bind is cap_net_bind_service=ep.
var bind = &filecap.Capabilities{Given: true, Permitted: 1 << 10, Effective: true}

// TestFileCapabilities: they are compared as sets, and set again with a new content.
func TestFileCapabilities(t *testing.T) {
	mode := new(ModeOf(0o755))
	want := File{Name: "/f", Ensure: FilePresent, Owner: "-1", Group: "-1", Mode: mode, Content: new("x"), Capabilities: bind}
	none := want
	none.Capabilities = new(filecap.Capabilities{})
	unmanaged := want
	unmanaged.Capabilities = nil
	plain := FileState{Kind: safepath.Regular, Mode: 0o755}
	other, bound := plain, plain
	other.Capabilities, bound.Capabilities = filecap.Capabilities{Given: true, Permitted: 1}, *bind
	changed := bound
	changed.ContentDiffers = true
	for _, x := range []struct {
		want File
		have FileState
		diff string
		sets bool
	}{
		{want, FileState{}, "ensure: absent → present, mode:  → 0755, capabilities:  → cap_net_bind_service=ep", true},
		{want, plain, "capabilities: none → cap_net_bind_service=ep", true},
		{want, other, "capabilities: cap_chown=p → cap_net_bind_service=ep", true},
		{want, bound, "", false},
		{want, changed, "content:  → ", true},
		{none, FileState{}, "ensure: absent → present, mode:  → 0755", false},
		{none, bound, "capabilities: cap_net_bind_service=ep → none", true},
		{none, plain, "", false},
		{unmanaged, FileState{Kind: safepath.Regular, Mode: 0o700}, "mode: 0700 → 0755", false},
	} {
		d := x.want.Decide(x.have)
		require.NoError(t, d.Err)
		require.Equal(t, x.diff, d.String())
		if x.diff != "" {
			require.Equal(t, x.sets, d.Effects[0].SetsCapabilities, x.diff)
		}
	}
	existing := File{Name: "/f", Ensure: FileExisting, Capabilities: bind}
	require.Equal(t, "SetAttributes", existing.Decide(plain).Actions[0].Verb)
	require.EqualError(t, existing.Decide(FileState{Kind: safepath.Directory}).Err, "expected a file, which alone can have capabilities, found a directory")
}

func TestFileResolvePaths(t *testing.T) {
	for source, want := range map[string]string{"files/x": "/site/files/x", "/abs/x": "/abs/x", "https://example.net/x": "https://example.net/x"} {
		f := File{Source: new(source)}
		f.ResolvePaths("/site")
		require.Equal(t, want, *f.Source)
	}
}

func TestFileDiff(t *testing.T) {
	want := File{Name: "/f", Ensure: FilePresent, Owner: "app", Group: "app", Mode: new(ModeOf(0o640)), Content: new("x")}
	have := FileState{Kind: safepath.Regular, UID: 0, GID: 5, WantUID: 7, WantGID: 5, Owner: "root", Mode: 0o600, ContentDiffers: true,
		Checksum: "0123456789abcdef0123", WantChecksum: "fedcba98765432100000"}
	d := want.Decide(have)
	require.Equal(t, "content: sha256:0123456789abcdef → sha256:fedcba9876543210, owner: root → app, mode: 0600 → 0640", d.String())
	require.Equal(t, "Would have updated the file", d.Actions[0].Would())
	require.Equal(t, "Updated the file", d.Actions[0].Done())
	require.Equal(t, []overlay.PathEffect{{Path: "/f", Kind: safepath.Regular, Content: new("x"), Attr: &safepath.Attr{UID: 7, GID: 5, Mode: 0o640}}}, d.Effects)
	require.True(t, d.Complete)
}

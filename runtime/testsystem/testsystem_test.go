package testsystem

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParseTarget: the names of systems, and mistakes in them.
func TestParseTarget(t *testing.T) {
	for name, want := range map[string]Target{
		"debian:12":       {Name: "debian:12", Distribution: "debian", Release: "12"},
		"ubuntu:noble":    {Name: "ubuntu:noble", Distribution: "ubuntu", Release: "noble"},
		"image:/a:/b":     {Name: "image:/a:/b", Driver: nspawnName, Arg: "/a:/b"},
		"web=image:/a=b":  {Name: "web", Driver: nspawnName, Arg: "/a=b"},
		"qemu:a.qcow2":    {Name: "qemu:a.qcow2", Driver: qemuName, Arg: "a.qcow2"},
		"root:x":          {Name: "root:x", Driver: rootName, Arg: "x"},
		"ssh:ada@web1:22": {Name: "ssh:ada@web1:22", Driver: sshName, Arg: "ada@web1:22"},
	} {
		got, err := ParseTarget(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got)
	}
	for name, want := range map[string]string{
		"":           `expected DISTRIBUTION:RELEASE such as debian:12, image:PATH, qemu:IMAGE, root:DIR or ssh:HOST, got ""`,
		"debian":     `expected DISTRIBUTION:RELEASE such as debian:12, image:PATH, qemu:IMAGE, root:DIR or ssh:HOST, got "debian"`,
		"root:":      `expected DISTRIBUTION:RELEASE such as debian:12, image:PATH, qemu:IMAGE, root:DIR or ssh:HOST, got "root:"`,
		"debain:12":  `unknown distribution "debain" (did you mean "debian"?)`,
		"plan9:4":    `unknown distribution "plan9" (use one of debian, ubuntu, rocky, alma, fedora, or a system of your own with image:PATH)`,
		"debian:1 2": `expected a release of debian such as 12, got "1 2"`,
	} {
		_, err := ParseTarget(name)
		require.EqualError(t, err, want)
	}
	_, err := distributionOf("debian").codeName("1")
	require.EqualError(t, err, `unknown release of debian "1" (use one of 11, 12, 13)`)
}

// unusable is a driver that does not work.
type unusable struct{ fake }

func (unusable) Name() string { return "unusable" }
func (unusable) Check() error { return errors.New("no such program") }

// TestDriverFor: the driver of a target, of the user, or else the first that works.
func TestDriverFor(t *testing.T) {
	p := &Pool{Drivers: []Driver{unusable{}, fake{}, rootDriver{}}}
	debian, err := ParseTarget("debian:12")
	require.NoError(t, err)
	d, err := p.DriverFor(debian, "")
	require.NoError(t, err)
	require.Equal(t, "fake", d.Name())
	d, err = p.DriverFor(Target{Name: "root:x", Driver: rootName, Arg: "x"}, "")
	require.NoError(t, err)
	require.Equal(t, rootName, d.Name())
	_, err = p.DriverFor(Target{Name: "root:x", Driver: rootName, Arg: "x"}, "fake")
	require.EqualError(t, err, "root:x requires the driver root")
	_, err = p.DriverFor(debian, "unusable")
	require.EqualError(t, err, "no such program")
	_, err = p.DriverFor(debian, "fakes")
	require.EqualError(t, err, `unknown driver "fakes" (did you mean "fake"?)`)
	_, err = p.DriverFor(debian, "plan9")
	require.EqualError(t, err, `unknown driver "plan9" (use one of unusable, fake, root)`)
	_, err = p.DriverFor(debian, "root")
	require.EqualError(t, err, "the driver root cannot make debian:12 (name a system of your own: --system root:...)")
	p.Drivers = p.Drivers[:1]
	_, err = p.DriverFor(debian, "")
	require.EqualError(t, err, "no driver for debian:12 works here: unusable: no such program")
}

// TestReclaim: what is left of a process that was killed is removed, even if it had not got far.
func TestReclaim(t *testing.T) {
	p := NewPool(t.TempDir(), []Driver{fake{}})
	removed, err := p.Reclaim()
	require.NoError(t, err)
	require.Empty(t, removed)
	for _, name := range []string{"empty-000001", "torn-000002", "foreign-000003"} {
		require.NoError(t, os.MkdirAll(filepath.Join(p.Dir, "run", name), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "run/torn-000002/system.json"), []byte(`{"name":"`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "run/foreign-000003/system.json"), []byte(`{"name":"../..","driver":"other"}`), 0o600))
	removed, err = p.Reclaim()
	require.NoError(t, err)
	require.Equal(t, []string{"empty-000001", "foreign-000003", "torn-000002"}, removed)
	left, err := os.ReadDir(filepath.Join(p.Dir, "run"))
	require.NoError(t, err)
	require.Empty(t, left)
}

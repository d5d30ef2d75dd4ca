package apk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rpmversion "github.com/knqyf263/go-rpm-version"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/providers/pkgtool/pkgtooltest"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
)

func TestSuits(t *testing.T) { pkgtooltest.Suits(t, tool, "debian") }

func TestPackageSuite(t *testing.T) { pkgtooltest.Suite(t, packages, answer, false, write) }

// write writes the database of installed packages and the world.
func write(m *pkgtooltest.Machine) {
	text, asked := "", ""
	for name, version := range m.DB {
		text += "C:Q1pQpcW2WQmk=\nP:" + name + "\nV:" + version + "\nA:x86_64\nT:what it is for: this\nU:https://example.org/\nL:MIT\nF:usr\nR:x\n\n"
		if m.Holds[name] {
			name += "=" + version
		}
		asked += name + "\n"
	}
	for path, text := range map[string]string{databases[0]: text, world: asked} {
		path = filepath.Join(m.Root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
}

// answer answers as apk-tools 2.14 does. A package that is named without a version keeps the one that it
// has, unless apk should upgrade.
func answer(m *pkgtooltest.Machine, c host.Cmd) (host.Result, error) {
	argv := c.Argv
	switch {
	case argv[1] == "version":
		order := rpmversion.NewVersion(argv[3]).Compare(rpmversion.NewVersion(argv[4]))
		return pkgtooltest.OK(string("<=>"[order+1]) + "\n"), nil
	case argv[1] == "policy":
		out := ""
		for _, name := range argv[2:] {
			out += name + " policy:\n"
			for _, version := range m.Repo[name] {
				out += "  " + version + ":\n    https://dl-cdn.alpinelinux.org/alpine/v3.17/main\n"
			}
		}
		return pkgtooltest.OK(out), nil
	case slices.Contains(argv, "--simulate"):
		verb, out := map[string]string{"add": "Installing", "del": "Purging"}[argv[3]], ""
		for i, spec := range pkgtooltest.WordsBehind(argv, 4) {
			name, _, _ := strings.Cut(spec, "=")
			out += fmt.Sprintf("(%d/2) %s %s (1.0-1)\n", i+1, verb, name)
		}
		return pkgtooltest.OK(out + "OK: 8 MiB in 15 packages\n"), nil
	case argv[3] == "add":
		for _, spec := range pkgtooltest.WordsBehind(argv, 4) {
			name, version, pinned := strings.Cut(spec, "=")
			if pinned || m.DB[name] == "" || slices.Contains(argv, "--upgrade") {
				if m.Install("=", []string{strings.TrimSuffix(name+"="+version, "=")}) != "" {
					return pkgtooltest.Failed(1, "", "ERROR: unable to select packages:\n  "+spec+" (no such package):\n    required by: world["+spec+"]\n"), nil
				}
			}
			m.Holds[name] = pinned
		}
	case argv[3] == "del":
		for _, name := range argv[4:] {
			delete(m.DB, name)
		}
	default:
		return host.Result{}, fmt.Errorf("command %q not found", c)
	}
	write(m)
	return pkgtooltest.OK("OK: 8 MiB in 15 packages\n"), nil
}

// What apk-tools 2.14.4 printed: it exits with the number of broken packages and of errors, after it made all changes
// that it could.
func TestErrorsOfApk(t *testing.T) {
	paragraph := func(name, version, flags string) string {
		text := "P:" + name + "\nV:" + version + "\n"
		if flags != "" {
			text += "f:" + flags + "\n"
		}
		return text + "\n"
	}
	for name, x := range map[string]struct {
		before, after string // the database
		res           host.Result
		err           string // of the run, "" for none
		done          bool   // whether it is of a change that was made
	}{
		"another package is broken": {
			before: paragraph("old", "1.0-r0", "s"), after: paragraph("old", "1.0-r0", "s") + paragraph("demo", "1.0-r0", ""),
			res: pkgtooltest.Failed(1, "(1/1) Installing demo (1.0-r0)\nExecuting busybox-1.36.1-r29.trigger\n1 error; 8 MiB in 17 packages\n", ""),
		},
		"another package is not in the repository": {
			after: paragraph("demo", "1.0-r0", ""),
			res: pkgtooltest.Failed(1, "(1/2) Installing demo-svc (1.0-r0)\n(2/2) Installing demo (1.0-r0)\n1 error; 8 MiB in 16 packages\n",
				"ERROR: demo-svc-1.0-r0: package mentioned in index not found (try 'apk update')\n"),
		},
		"its script failed": {
			after: paragraph("demo", "1.0-r0", "s"), done: true, err: "demo-1.0-r0.post-install: script exited with error 3",
			res: pkgtooltest.Failed(1, "(1/1) Installing demo (1.0-r0)\nExecuting demo-1.0-r0.post-install\n1 error; 8 MiB in 17 packages\n",
				"boom\nERROR: demo-1.0-r0.post-install: script exited with error 3\n"),
		},
		"the script of its dependency failed": {
			after: paragraph("dep", "1.0-r0", "s") + paragraph("demo", "1.0-r0", ""), done: true, err: "dep-1.0-r0.post-install: script exited with error 3",
			res: pkgtooltest.Failed(1, "1 error; 8 MiB in 17 packages\n", "ERROR: dep-1.0-r0.post-install: script exited with error 3\n"),
		},
		"it is not in the repository": {
			err: "demo-1.0-r0: package mentioned in index not found",
			res: pkgtooltest.Failed(1, "(1/1) Installing demo (1.0-r0)\n1 error; 8 MiB in 17 packages\n", "ERROR: demo-1.0-r0: package mentioned in index not found (try 'apk update')\n"),
		},
		"its script before the removal failed": {
			before: paragraph("demo", "1.0-r0", ""), done: true, err: "demo-1.0-r0.pre-deinstall: script exited with error 1",
			res: pkgtooltest.Failed(1, "1 error; 8 MiB in 16 packages\n", "ERROR: demo-1.0-r0.pre-deinstall: script exited with error 1\n"),
		},
		"a conflict": {
			err: "satisfies: world[demo=1.0-r0]",
			res: pkgtooltest.Failed(2, "", "ERROR: unable to select packages:\n  demo-1.0-r0:\n    breaks: demo-dep-1.0-r0[demo>=1.1]\n    satisfies: world[demo=1.0-r0]\n"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			var root string
			put := func(text string) {
				path := filepath.Join(root, databases[0])
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			h, root := hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) {
				put(x.after)
				return x.res, nil
			}})
			put(x.before)
			err := run(t.Context(), h, []resources.Package{pkgtooltest.Package("demo", "present")}, []string{"apk", "add", "demo"})
			_, done := errors.AsType[*resource.DoneError](err)
			require.Equal(t, x.done, done)
			if x.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, x.err)
			}
		})
	}
}

// A package with broken files is neither installed nor absent: apk fix installs them again.
func TestBrokenFiles(t *testing.T) {
	var root string
	var ran []string
	put := func(flags string) {
		path := filepath.Join(root, databases[1]) // as where /lib is /usr/lib
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("P:demo\nV:1.0-r0\n"+flags+"\n"), 0o644))
	}
	h, root := hosttest.New(t, &hosttest.Runner{Answer: func(c host.Cmd) (host.Result, error) {
		ran = append(ran, c.String())
		switch {
		case slices.Contains(c.Argv, "policy"):
			return pkgtooltest.OK("demo policy:\n  1.0-r0:\n    /repo\n"), nil
		case slices.Contains(c.Argv, "fix"):
			put("")
			return pkgtooltest.OK("(1/1) Reinstalling demo (1.0-r0)\nOK: 8 MiB in 16 packages\n"), nil
		}
		return pkgtooltest.Failed(1, "1 error; 8 MiB in 16 packages\n", ""), nil
	}})
	put("f:f\n")
	want := pkgtooltest.Package("demo", "present")
	have, err := packages.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.Equal(t, resources.PackageState{Problem: "half-installed"}, have)
	require.NoError(t, packages.Install(t.Context(), h, want))
	require.Equal(t, []string{"apk policy demo", "apk --wait 600 add demo", "apk --wait 600 fix demo"}, ran)

	put("f:s\n") // apk fix would forget the script
	have, err = packages.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.True(t, have.Installed())
}

// A constraint in the world is a hold, but for the digest of a package file.
func TestPinned(t *testing.T) {
	h, root := hosttest.New(t, &hosttest.Runner{})
	require.NoError(t, os.MkdirAll(filepath.Join(root, "/etc/apk"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, world), []byte("a\nb=1.0-r0\nc><Q1CsBCuUlbY7ExX/fqOUpqckbJ5NE=\nd~1\ne<2\nf@edge\ng@edge>1\n!h\n"), 0o644))
	names, err := pinned(t.Context(), &h.View, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "d", "e", "g"}, names)
}

// An output from a bug report: only packages in repositories without a tag are available.
func TestParsePolicy(t *testing.T) {
	require.Equal(t, map[string][]string{"libx11-dev": {"1.7.1-r0"}, "bubblewrap": {"0.4.1-r2"}}, parsePolicy(
		"libx11-dev policy:\n  1.7.1-r0:\n    lib/apk/db/installed\n    https://dl-cdn.alpinelinux.org/alpine/v3.13/main\n"+
			"  1.7.2-r0:\n    @edge https://dl-cdn.alpinelinux.org/alpine/edge/main\n"+
			"bubblewrap policy:\n  0.4.1-r2:\n    lib/apk/db/installed\n    https://dl-cdn.alpinelinux.org/alpine/v3.13/main\n"+
			"    @edge https://dl-cdn.alpinelinux.org/alpine/v3.13/main\n    https://dl-cdn.alpinelinux.org/alpine/edge/main\n"+
			"capnproto policy:\n  0.8.0-r1:\n    @edgecommunity https://dl-cdn.alpinelinux.org/alpine/edge/community\n"))
}

// Required packages stay, which apk reports without an error.
func TestSimulateRemoval(t *testing.T) {
	res := pkgtooltest.OK("World updated, but the following packages are not removed due to:\n  musl: apk-tools busybox alpine-baselayout\n        libc-utils\n  zlib: apk-tools\n\nOK: 8 MiB in 15 packages\n")
	h, _ := hosttest.New(t, &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return res, nil }})
	_, err := simulate(t.Context(), &h.View, "remove", pkgtooltest.Package("musl", "absent"), []string{"musl"})
	require.EqualError(t, err, "apk cannot remove musl, needed by apk-tools, busybox, alpine-baselayout, libc-utils")
	require.EqualError(t, change(t.Context(), h, "remove", []resources.Package{pkgtooltest.Package("zlib", "absent")}, []string{"zlib"}),
		"apk cannot remove zlib, needed by apk-tools", "apk would change the world")

	res = pkgtooltest.Failed(2, "(1/2) Purging curl (7.88.1-r1)\n(2/2) Purging nghttp2-libs (1.51.0-r0)\n2 errors; 7 MiB in 14 packages\n", "")
	got, err := simulate(t.Context(), &h.View, "remove", resources.Package{}, []string{"curl"})
	require.NoError(t, err)
	require.Equal(t, pkgtool.Simulation{Removes: []string{"curl", "nghttp2-libs"}}, got)
}

func FuzzParsePolicy(f *testing.F) {
	f.Add("a policy:\n  1-r0:\n    https://x/y\n")
	f.Fuzz(func(t *testing.T, out string) {
		for name, versions := range parsePolicy(out) {
			require.NotEmpty(t, versions, name)
		}
	})
}

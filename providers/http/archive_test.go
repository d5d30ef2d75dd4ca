package http

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/resourcetest"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// A server serves archives, counts requests, and requires credentials below /private.
type server struct {
	*httptest.Server
	files map[string][]byte
	asked atomic.Int32
}

func serve(t *testing.T, files map[string][]byte) *server {
	s := &server{files: files}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	user, password, _ := r.BasicAuth()
	if strings.HasPrefix(r.URL.Path, "/private/") && (user != "deploy" || password != "s3cret") && r.Header.Get("X-Api-Key") != "k3y" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	b, ok := s.files[filepath.Base(r.URL.Path)]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(b)
}

func (s *server) url(t *testing.T, path string) (u resources.URL) {
	t.Helper()
	require.NoError(t, u.UnmarshalText([]byte(s.URL+path)))
	return u
}

func app(t *testing.T) []byte {
	t.Helper()
	return hosttest.TarGzip(t, hosttest.Dir("bin", 0o755), hosttest.File("bin/app", "app 1"), hosttest.Link("current", "bin/app"))
}

// want returns an archive with all defaults.
func (s *server) want(t *testing.T, change func(*resources.Archive)) resources.Archive {
	t.Helper()
	owner, group := hosttest.Me()
	a := resources.Archive{
		Name: "/srv/app.tar.gz", Ensure: resources.ArchivePresent, URL: s.url(t, "/app.tgz"), Owner: owner, Group: group,
		StallTimeout: host.Duration(time.Minute), MaxEntries: 1000, MaxSize: 1 << 20,
	}
	if change != nil {
		change(&a)
	}
	require.NoError(t, a.Validate())
	return a
}

func put(t *testing.T, root, name string, content []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(root+name), 0o755))
	require.NoError(t, os.WriteFile(root+name, content, 0o640))
}

// start makes a machine with /srv for the suite. No command is ever run.
func start(f func(t *testing.T, root string)) func(*testing.T, string) host.Runner {
	return func(t *testing.T, root string) host.Runner {
		require.NoError(t, os.MkdirAll(root+"/srv", 0o755))
		f(t, root)
		return &hosttest.Runner{}
	}
}

func TestArchives(t *testing.T) {
	right := app(t)
	srv := serve(t, map[string][]byte{
		"app.tgz": right, "evil.tgz": hosttest.TarGzip(t, hosttest.File("good", "x"), hosttest.File("../evil", "x")),
	})
	sum := resources.Checksum(sha256sum.Bytes(right))
	const isDir, isLink, noParent, mismatch = "found a directory, which is not replaced", "which is not followed", "/srv does not exist", "checksum mismatch, expected"
	has := func(files ...string) func(*testing.T, string) host.Runner {
		return start(func(t *testing.T, root string) {
			for _, f := range files {
				switch f {
				case "archive":
					put(t, root, "/srv/app.tar.gz", right)
				case "other archive":
					put(t, root, "/srv/app.tar.gz", []byte("other"))
				default:
					put(t, root, f, []byte("old"))
				}
			}
		})
	}
	wants := map[string]resources.Archive{
		"plain":   srv.want(t, nil),
		"sum":     srv.want(t, func(a *resources.Archive) { a.Checksum = sum }),
		"bad sum": srv.want(t, func(a *resources.Archive) { a.Checksum = resources.Checksum(strings.Repeat("0", 64)) }),
		"extract": srv.want(t, func(a *resources.Archive) { a.ExtractParent = "/opt/app" }),
		"creates": srv.want(t, func(a *resources.Archive) {
			a.ExtractParent, a.Creates, a.Checksum = "/opt/app", "/opt/app/bin/app", sum
		}),
		"cleanup": srv.want(t, func(a *resources.Archive) {
			a.ExtractParent, a.Creates, a.Cleanup = "/opt/app", "/opt/app/bin/app", true
		}),
		"never": srv.want(t, func(a *resources.Archive) {
			a.ExtractParent, a.Creates, a.Cleanup = "/opt/app", "/opt/app/no", true
		}),
		"hostile": srv.want(t, func(a *resources.Archive) { a.URL, a.ExtractParent = srv.url(t, "/evil.tgz"), "/opt/app" }),
		"gone":    srv.want(t, func(a *resources.Archive) { a.URL = srv.url(t, "/gone.tar.gz") }),
		"absent":  {Name: "/srv/app.tar.gz", Ensure: resources.ArchiveAbsent, MaxEntries: 1},
	}
	suite := resourcetest.Suite[resources.Archive, resources.ArchiveState, resources.ArchiveProvider]{
		Type:     resources.ArchiveType,
		Provider: archives{},
		Starts: map[string]func(*testing.T, string) host.Runner{
			"nothing":   has(),
			"archive":   has("archive"),
			"other":     has("other archive"),
			"extracted": has("/opt/app/bin/app"),
			"all":       has("archive", "/opt/app/bin/app"),
			"started": start(func(t *testing.T, root string) {
				put(t, root, "/srv/app.tar.gz", right)
				require.NoError(t, os.Chmod(root+"/srv/app.tar.gz", 0o640|os.ModeSticky))
			}),
			"leftovers": has("/srv/.app.tar.gz.ccm-new", "/opt/app/.app.tar.gz.ccm-extract/x"),
			"directory": start(func(t *testing.T, root string) { require.NoError(t, os.Mkdir(root+"/srv/app.tar.gz", 0o755)) }),
			"link":      start(func(t *testing.T, root string) { require.NoError(t, os.Symlink("/etc/passwd", root+"/srv/app.tar.gz")) }),
			"no parent": start(func(t *testing.T, root string) { require.NoError(t, os.Remove(root+"/srv")) }),
		},
		Wants: wants,
		Phrases: map[string][]string{
			"nothing/plain":     {"downloaded"},
			"nothing/extract":   {"downloaded", "extracted"},
			"nothing/creates":   {"downloaded", "extracted"},
			"nothing/cleanup":   {"downloaded", "extracted", "cleaned up"},
			"nothing/absent":    {},
			"archive/plain":     {},
			"archive/sum":       {},
			"archive/extract":   {},
			"archive/creates":   {"extracted"},
			"archive/cleanup":   {"extracted", "cleaned up"},
			"archive/absent":    {"removed"},
			"other/plain":       {},
			"other/sum":         {"downloaded"},
			"other/creates":     {"downloaded", "extracted"},
			"extracted/creates": {},
			"extracted/cleanup": {},
			"all/creates":       {},
			"all/cleanup":       {"cleaned up"},
			"started/extract":   {"extracted"},
			"started/absent":    {"removed"},
			"leftovers/creates": {"downloaded", "extracted"},
			"link/absent":       {"removed"},
		},
		Fails: map[string]string{
			"directory/absent": "found a directory, which is not removed",
		},
	}
	for name := range suite.Starts {
		created := name == "extracted" || name == "all"
		stands := name != "nothing" && name != "extracted" && name != "leftovers" && name != "no parent"
		for want := range wants {
			blocked := map[string]string{"directory": isDir, "link": isLink, "no parent": noParent}[name]
			switch {
			case want == "absent":
				continue
			case created && (want == "creates" || want == "cleanup"):
				continue
			case blocked != "":
				suite.Fails[name+"/"+want] = blocked
			case want == "bad sum":
				suite.Fails[name+"/"+want] = mismatch
			case want == "never" && name == "other":
				suite.Fails[name+"/"+want] = "extracting /srv/app.tar.gz: cannot read archive: not a gzip file"
			case want == "never":
				suite.Fails[name+"/"+want] = "failed to reach desired state: /opt/app/no"
			case want == "cleanup" && name == "other":
				suite.Fails[name+"/"+want] = "extracting /srv/app.tar.gz: cannot read archive: not a gzip file"
			case want == "hostile" && !stands:
				suite.Fails[name+"/"+want] = `extracting /srv/app.tar.gz: entry "../evil": is a path with ..`
			case want == "gone" && !stands:
				suite.Fails[name+"/"+want] = "expected status 200, got 404 Not Found"
			}
		}
	}
	suite.Run(t)
}

// converge does the engine's work, and returns the actions.
func converge(t *testing.T, h *host.Host, want resources.Archive) ([]string, error) {
	t.Helper()
	have, err := archives{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	d := want.Decide(have)
	require.NoError(t, d.Err)
	var did []string
	for _, a := range d.Actions {
		if err := want.Perform(t.Context(), h, archives{}, a); err != nil {
			return did, err
		}
		did = append(did, a.Phrase)
	}
	have, err = archives{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.True(t, want.Decide(have).Stable())
	return did, nil
}

func machine(t *testing.T) (*host.Host, string) {
	t.Helper()
	h, root := hosttest.New(t, &hosttest.Runner{})
	require.NoError(t, os.Mkdir(root+"/srv", 0o755))
	return h, root
}

// "a repeated extraction does not download again when the archive is there and
// its checksum, if given, matches"
func TestRepeatedExtraction(t *testing.T) {
	right := app(t)
	srv := serve(t, map[string][]byte{"app.tgz": right})
	for _, sum := range []resources.Checksum{"", resources.Checksum(sha256sum.Bytes(right))} {
		srv.asked.Store(0)
		h, root := machine(t)
		want := srv.want(t, func(a *resources.Archive) {
			a.ExtractParent, a.Creates, a.Checksum = "/opt/app", "/opt/app/bin/app", sum
		})
		did, err := converge(t, h, want)
		require.NoError(t, err)
		require.Equal(t, []string{"downloaded", "extracted"}, did)
		require.NoError(t, os.Remove(root+"/opt/app/bin/app"))
		did, err = converge(t, h, want)
		require.NoError(t, err)
		require.Equal(t, []string{"extracted"}, did)
		did, err = converge(t, h, want)
		require.NoError(t, err)
		require.Empty(t, did)
		require.Equal(t, int32(1), srv.asked.Load())
	}
}

// "a wrong owner is repaired without a download when the checksum is right"
func TestWrongOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change the owner of files")
	}
	right := app(t)
	srv := serve(t, map[string][]byte{"app.tgz": right})
	for _, sum := range []resources.Checksum{"", resources.Checksum(sha256sum.Bytes(right))} {
		srv.asked.Store(0)
		h, root := machine(t)
		put(t, root, "/srv/app.tar.gz", right)
		require.NoError(t, os.Chmod(root+"/srv/app.tar.gz", 0o604))
		did, err := converge(t, h, srv.want(t, func(a *resources.Archive) { a.Owner, a.Group, a.Checksum = "1234", "1235", sum }))
		require.NoError(t, err)
		snap := hosttest.Snapshot(t, root)["srv/app.tar.gz"]
		if sum == "" {
			require.Equal(t, []string{"downloaded"}, did)
			require.True(t, strings.HasPrefix(snap, "-rw-r----- 1234:1235 "), snap[:30])
			continue
		}
		require.Equal(t, []string{"updated attributes"}, did)
		require.Zero(t, srv.asked.Load())
		require.True(t, strings.HasPrefix(snap, "-rw----r-- 1234:1235 "), snap[:30])
	}
}

// "Metadata Collected"
func TestStatus(t *testing.T) {
	right := app(t)
	srv := serve(t, nil)
	h, root := machine(t)
	put(t, root, "/srv/app.tar.gz", right)
	put(t, root, "/opt/app/marker", nil)
	when := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(t, os.Chtimes(root+"/srv/app.tar.gz", when, when))
	want := srv.want(t, func(a *resources.Archive) { a.Checksum = resources.Checksum(sha256sum.Bytes(right)) })
	have, err := archives{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.True(t, have.ArchiveExists)
	require.False(t, have.CreatesExists)
	require.Equal(t, "present", have.CurrentEnsure())
	require.Equal(t, int64(len(right)), have.Size)
	require.True(t, when.Equal(have.MTime))
	require.Equal(t, sha256sum.Bytes(right), have.Checksum)
	require.Equal(t, h.UserName(uint32(os.Geteuid())), have.Owner)
	require.Equal(t, h.GroupName(uint32(os.Getegid())), have.Group)

	// A query by name only.
	have, err = archives{}.Inspect(t.Context(), &h.View, resources.Archive{Name: "/srv/app.tar.gz"})
	require.NoError(t, err)
	size := int64(len(right))
	require.Equal(t, resources.ArchiveMetadata{
		Name: "/srv/app.tar.gz", Provider: "http", ArchiveExists: true, Size: &size, MTime: when, Checksum: sha256sum.Bytes(right),
		Owner: h.UserName(uint32(os.Geteuid())), Group: h.GroupName(uint32(os.Getegid())),
	}, have.Describe("/srv/app.tar.gz", "http"))

	want.Creates = "/opt/app/marker"
	have, err = archives{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.True(t, have.CreatesExists)
	require.Equal(t, sha256sum.Bytes(right), have.Checksum, "it tells whether another archive was extracted")

	require.NoError(t, os.Remove(root+"/srv/app.tar.gz"))
	have, err = archives{}.Status(t.Context(), &h.View, want)
	require.NoError(t, err)
	require.Equal(t, "absent", have.CurrentEnsure())
	require.Equal(t, resources.ArchiveMetadata{Name: "/srv/app.tar.gz", Provider: "http", CreatesExists: true}, have.Describe("/srv/app.tar.gz", "http"))
	require.Zero(t, srv.asked.Load(), "looking asks no server")
}

// What something earlier in a plan brings about counts.
func TestStatusInPlan(t *testing.T) {
	srv := serve(t, nil)
	h, root := machine(t)
	want := srv.want(t, func(a *resources.Archive) { a.Name, a.Creates = "/new/app.tar.gz", "/opt/app/marker" })
	v := h.Planning(t.Context())
	have, err := archives{}.Status(t.Context(), v, want)
	require.NoError(t, err)
	require.Equal(t, []string{"/new"}, have.MissingParents)
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/new", Kind: safepath.Directory})
	have, err = archives{}.Status(t.Context(), v, want)
	require.NoError(t, err)
	require.Empty(t, have.MissingParents)
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/opt/app/marker", Kind: safepath.Regular})
	have, err = archives{}.Status(t.Context(), v, want)
	require.NoError(t, err)
	require.True(t, have.CreatesExists)

	put(t, root, "/srv/app.tar.gz", []byte("x"))
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/srv/app.tar.gz", Kind: safepath.Regular})
	_, err = archives{}.Status(t.Context(), v, srv.want(t, func(a *resources.Archive) { a.Checksum = resources.Checksum(strings.Repeat("0", 64)) }))
	require.ErrorIs(t, err, overlay.ErrNotKnown)
}

// "Basic Authentication", "Custom Headers": they authorize, and are in no
// message, whether it goes well or not.
func TestAuthorization(t *testing.T) {
	srv := serve(t, map[string][]byte{"app.tgz": app(t)})
	withUser := srv.url(t, "/private/app.tgz")
	require.NoError(t, withUser.UnmarshalText([]byte(strings.Replace(srv.URL, "http://", "http://deploy:s3cret@", 1)+"/private/app.tgz?sig=s1g")))
	for name, x := range map[string]struct {
		change func(*resources.Archive)
		fails  string
	}{
		"none":     {func(*resources.Archive) {}, "expected status 200, got 401 Unauthorized"},
		"password": {func(a *resources.Archive) { a.Username, a.Password = "deploy", "s3cret" }, ""},
		"header":   {func(a *resources.Archive) { a.Headers = map[string]resources.Secret{"x-api-key": "k3y"} }, ""},
		"url":      {func(a *resources.Archive) { a.URL = withUser }, ""},
		"wrong":    {func(a *resources.Archive) { a.Username, a.Password = "deploy", "s3cret-not" }, "expected status 200, got 401 Unauthorized"},
		"gone": {func(a *resources.Archive) {
			u := withUser.Parse()
			u.Path = "/private/gone.tgz"
			require.NoError(t, a.URL.UnmarshalText([]byte(u.String())))
			a.Headers = map[string]resources.Secret{"x-api-key": "k3y"}
		}, "expected status 200, got 404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			root := t.TempDir()
			require.NoError(t, os.Mkdir(root+"/srv", 0o755))
			h := host.New(host.Options{Root: root, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
			want := srv.want(t, func(a *resources.Archive) { a.URL = srv.url(t, "/private/app.tgz"); x.change(a) })
			_, err := converge(t, h, want)
			if x.fails == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, x.fails)
			}
			for _, s := range []string{"deploy", "s3cret", "k3y", "s1g"} {
				require.NotContains(t, log.String(), s)
				require.NotContains(t, fmt.Sprint(err), s)
			}
		})
	}
}

// The limits can be set, and the message says how.
func TestLimits(t *testing.T) {
	srv := serve(t, map[string][]byte{"app.tgz": app(t)})
	for want, change := range map[string]func(*resources.Archive){
		"extracting /srv/app.tar.gz: entry \"current\": archive exceeds the limit of 2 entries (raise it with max_entries)":     func(a *resources.Archive) { a.MaxEntries = 2 },
		"extracting /srv/app.tar.gz: entry \"bin/app\": archive expands to more than the limit of 4 B (raise it with max_size)": func(a *resources.Archive) { a.MaxSize = 4 },
	} {
		h, root := machine(t)
		_, err := converge(t, h, srv.want(t, func(a *resources.Archive) { a.ExtractParent = "/opt/app"; change(a) }))
		require.EqualError(t, err, want)
		require.NoDirExists(t, root+"/opt")
		// A later run that is allowed more does not need the server again.
		srv.asked.Store(0)
		did, err := converge(t, h, srv.want(t, func(a *resources.Archive) { a.ExtractParent = "/opt/app" }))
		require.NoError(t, err)
		require.Equal(t, []string{"extracted"}, did)
		require.Zero(t, srv.asked.Load())
	}
}

// Wherever a run fails or dies, nothing wrong is left that the next run takes
// for right.
func TestFailingAnywhere(t *testing.T) {
	srv := serve(t, map[string][]byte{"app.tgz": app(t)})
	for name, change := range map[string]func(*resources.Archive){
		"extract": func(a *resources.Archive) { a.ExtractParent = "/opt/app" },
		"creates": func(a *resources.Archive) { a.ExtractParent, a.Creates = "/opt/app", "/opt/app/bin/app" },
		"cleanup": func(a *resources.Archive) {
			a.ExtractParent, a.Creates, a.Cleanup = "/opt/app", "/opt/app/bin/app", true
		},
	} {
		want := srv.want(t, change)
		clean := ""
		for _, more := range []int{1, 1 << 20} { // one effect fails; the run dies
			for n := 1; ; n++ {
				root := t.TempDir()
				require.NoError(t, os.Mkdir(root+"/srv", 0o755))
				failing, asked := hosttest.Failing(n, more)
				copied := false // a download that cannot be linked to its place is copied there
				effect := func(op, path string) error {
					err := failing(op, path)
					copied = copied || err != nil && op == "link" && more == 1
					return err
				}
				_, err := converge(t, host.New(host.Options{Root: root, Effect: effect}), want)
				if asked() < n {
					require.NoError(t, err)
					require.Greater(t, n, 15)
					break
				}
				if !copied {
					require.Error(t, err, "%s, effect %d", name, n)
				}
				_, err = converge(t, host.New(host.Options{Root: root}), want)
				require.NoError(t, err, "%s, effect %d", name, n)
				snap := hosttest.Snapshot(t, root)
				delete(snap, "opt/app/.app.tar.gz.ccm-extract") // if removing it was what failed
				for path := range snap {
					if strings.Contains(path, "ccm-extract/") {
						delete(snap, path)
					}
				}
				got := fmt.Sprint(snap)
				if clean == "" {
					clean = got
				}
				require.Equal(t, clean, got, "%s, effect %d", name, n)
				require.Contains(t, got, "app 1")
			}
		}
	}
}

// "The HTTP provider is selected when": the scheme and the extension are
// supported. No tool of the machine is needed.
func TestSuits(t *testing.T) {
	srv := serve(t, nil)
	owner, group := hosttest.Me()
	for _, name := range []string{"/a.tar.gz", "/a.tgz", "/a.tar", "/a.zip"} {
		n, err := suits(facts.Static(nil), resources.Archive{URL: srv.url(t, name), Owner: owner, Group: group})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	_, err := suits(facts.Static(nil), resources.Archive{URL: srv.url(t, "/a.rar")})
	require.EqualError(t, err, "archive type is not supported: expected one of .tar.gz, .tgz, .tar.xz, .txz, .tar.zst, .tzst, .tar.bz2, .tbz2, .tar, .zip, .gz, .xz, .zst, .bz2")
	n, err := suits(facts.Static(nil), resources.Archive{Ensure: resources.ArchiveAbsent})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	reg, err := resource.NewRegistry(Providers()...)
	require.NoError(t, err)
	require.Equal(t, []string{"http"}, reg.ProviderNames(resources.ArchiveType.Type))
}

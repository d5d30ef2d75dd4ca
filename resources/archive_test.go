package resources

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

func parseURL(t *testing.T, text string) (u URL) {
	t.Helper()
	require.NoError(t, u.UnmarshalText([]byte(text)))
	return u
}

var (
	rightSum = Checksum(strings.Repeat("ab", 32))
	wrongSum = strings.Repeat("cd", 32)
)

func archive(t *testing.T, change func(*Archive)) Archive {
	a := Archive{
		Name: "/tmp/app.tar.gz", Ensure: ArchivePresent, URL: parseURL(t, "https://example.com/app.tar.gz"),
		Owner: "root", Group: "root", MaxEntries: 200000, MaxSize: 10 << 30,
	}
	if change != nil {
		change(&a)
	}
	return a
}

// extracted makes an archive one that is extracted and has a created path.
func extracted(a *Archive) { a.ExtractParent, a.Creates = "/opt/app", "/opt/app/bin/app" }

// would returns the message of a plan: "Multiple actions are joined with '. '".
func would(d resource.Decision) string {
	var phrases []string
	for _, a := range d.Actions {
		phrases = append(phrases, a.Would())
	}
	return strings.Join(phrases, ". ")
}

var present = ArchiveState{Kind: safepath.Regular, ArchiveExists: true, Checksum: string(rightSum)}

func created(s ArchiveState) ArchiveState {
	s.CreatesExists = true
	return s
}

// "Decision Matrix" of the HTTP provider.
func TestArchiveDecisionMatrix(t *testing.T) {
	other := present
	other.Checksum = wrongSum
	for _, x := range []struct {
		archiveExists, createsExists, checksumMatch string
		cleanup                                     bool
		have                                        ArchiveState
		stable                                      string
		would                                       string
	}{
		{"No", "No", "N/A", false, ArchiveState{}, "No (download needed)", "Would have downloaded. Would have extracted"},
		{"Yes", "No", "Yes", false, present, "No (extract needed)", "Would have extracted"},
		{"Yes", "Yes", "Yes", false, created(present), "Yes", ""},
		{"No", "Yes", "N/A", true, created(ArchiveState{}), "Yes", ""},
		{"Yes", "Yes", "Yes", true, created(present), "No (cleanup needed)", "Would have cleaned up"},
		// The rows that the matrix leaves out.
		{"No", "Yes", "N/A", false, created(ArchiveState{}), "Yes", ""},
		{"No", "No", "N/A", true, ArchiveState{}, "No", "Would have downloaded. Would have extracted. Would have cleaned up"},
		{"Yes", "No", "Yes", true, present, "No", "Would have extracted. Would have cleaned up"},
		{"Yes", "No", "No", true, other, "No", "Would have downloaded. Would have extracted. Would have cleaned up"},
		{"Yes", "No", "No", false, other, "No", "Would have downloaded. Would have extracted"},
		{"Yes", "Yes", "No", false, created(other), "Yes", ""},
		{"Yes", "Yes", "No", true, created(other), "No", "Would have cleaned up"},
	} {
		name := fmt.Sprintf("archive %s, creates %s, checksum %s, cleanup %v", x.archiveExists, x.createsExists, x.checksumMatch, x.cleanup)
		a := archive(t, func(a *Archive) { extracted(a); a.Cleanup, a.Checksum = x.cleanup, rightSum })
		require.NoError(t, a.Validate())
		d := a.Decide(x.have)
		require.NoError(t, d.Err, name)
		require.Equal(t, strings.HasPrefix(x.stable, "Yes"), d.Stable(), name)
		require.Equal(t, x.would, would(d), name)
		require.Equal(t, d.Stable(), len(d.Diff) == 0, name)
	}
}

// "Decision Table" of the archive type, and what README.md of the documents
// says to it.
func TestArchiveDecisionTable(t *testing.T) {
	owned := present
	owned.WantUID, owned.Owner = 7, "root"
	grouped := present
	grouped.WantGID, grouped.Group = 7, "root"
	other := present
	other.Checksum, other.WantUID = wrongSum, 7
	started := present
	started.Unextracted = true
	plain := func(*Archive) {}
	sum := func(a *Archive) { a.Checksum = rightSum }
	for _, x := range []struct {
		condition string
		want      func(*Archive)
		have      ArchiveState
		would     string // "" is stable
		diff      string
	}{
		{"ensure: absent + archive missing", func(a *Archive) { a.Ensure = ArchiveAbsent }, ArchiveState{}, "", ""},
		{"ensure: absent + archive exists", func(a *Archive) { a.Ensure = ArchiveAbsent }, present, "Would have removed", "ensure: present → absent"},
		{"ensure: absent + a symbolic link", func(a *Archive) { a.Ensure = ArchiveAbsent }, ArchiveState{Kind: safepath.Symlink}, "Would have removed", "ensure: present → absent"},
		{"creates file exists: skip all", func(a *Archive) { extracted(a); sum(a) }, created(other), "", ""},
		{"creates file exists, whatever stands at the path", extracted, created(ArchiveState{Kind: safepath.Directory}), "", ""},
		{"creates file missing: extract needed", extracted, present, "Would have extracted", "creates:  → /opt/app/bin/app"},
		{"creates file missing, nothing to extract", func(a *Archive) { a.Creates = "/x" }, present, "", ""},
		{"cleanup: false + archive missing: download needed", plain, ArchiveState{}, "Would have downloaded", "ensure: absent → present"},
		{"archive there", plain, present, "", ""},
		{"archive there, checksum right", sum, present, "", ""},
		{"archive checksum mismatch: re-download needed", func(a *Archive) { a.Checksum = Checksum(wrongSum) }, present,
			"Would have downloaded", "checksum: sha256:abababababababab → sha256:cdcdcdcdcdcdcdcd"},
		{"archive owner mismatch: re-download needed", func(a *Archive) { a.Owner = "app" }, owned, "Would have downloaded", "owner: root → app"},
		{"archive group mismatch: re-download needed", func(a *Archive) { a.Group = "app" }, grouped, "Would have downloaded", "group: root → app"},
		// "a wrong owner is repaired without a download when the checksum is right"
		{"owner mismatch, checksum right", func(a *Archive) { a.Owner = "app"; sum(a) }, owned, "Would have updated attributes", "owner: root → app"},
		{"group mismatch, checksum right", func(a *Archive) { a.Group = "app"; sum(a) }, grouped, "Would have updated attributes", "group: root → app"},
		{"owner mismatch, checksum wrong", sum, other, "Would have downloaded", "checksum: sha256:cdcdcdcdcdcdcdcd → sha256:abababababababab, owner:  → root"},
		{"owner mismatch, checksum right, creates missing", func(a *Archive) { a.Owner = "app"; sum(a); extracted(a) }, owned,
			"Would have updated attributes. Would have extracted", "owner: root → app, creates:  → /opt/app/bin/app"},
		// "(download occurred OR creates file missing)"
		{"extracted once, without creates", func(a *Archive) { a.ExtractParent = "/opt/app" }, present, "", ""},
		{"missing, without creates", func(a *Archive) { a.ExtractParent = "/opt/app" }, ArchiveState{},
			"Would have downloaded. Would have extracted", "ensure: absent → present, extract_parent:  → /opt/app"},
		{"downloaded by a run that died before it was extracted", func(a *Archive) { a.ExtractParent = "/opt/app" }, started,
			"Would have extracted", "extract_parent:  → /opt/app"},
	} {
		d := archive(t, x.want).Decide(x.have)
		require.NoError(t, d.Err, x.condition)
		require.Equal(t, x.would, would(d), x.condition)
		require.Equal(t, x.diff, d.String(), x.condition)
		require.Equal(t, x.would == "", d.Stable(), x.condition)
	}
}

func TestArchiveDecideErr(t *testing.T) {
	absent := func(a *Archive) { a.Ensure = ArchiveAbsent }
	for _, x := range []struct {
		want func(*Archive)
		have ArchiveState
		err  string
	}{
		{nil, ArchiveState{Kind: safepath.Directory}, "expected a file, found a directory, which is not replaced"},
		{nil, ArchiveState{Kind: safepath.Special}, "expected a file, found a device, socket or pipe, which is not replaced"},
		{nil, ArchiveState{Kind: safepath.Symlink, Target: "/x"}, "expected a file, found a symbolic link to /x, which is not followed"},
		{nil, ArchiveState{Parents: Parents{BlockedParent: &host.ParentError{Dir: "/tmp"}}}, "/tmp is not a directory"},
		{nil, ArchiveState{Parents: Parents{MissingParents: []string{"/tmp"}}}, "/tmp does not exist"},
		{absent, ArchiveState{Kind: safepath.Directory}, "expected nothing, found a directory, which is not removed"},
	} {
		d := archive(t, x.want).Decide(x.have)
		require.EqualError(t, d.Err, x.err)
		require.Empty(t, d.Actions)
	}
}

// The effects that a plan may assume.
func TestArchiveLeaves(t *testing.T) {
	d := archive(t, func(a *Archive) { extracted(a); a.Cleanup = true }).Decide(ArchiveState{})
	require.True(t, d.Complete)
	require.Equal(t, []overlay.PathEffect{
		{Path: "/tmp/app.tar.gz", Kind: safepath.Regular, Attr: &safepath.Attr{Mode: 0o640}}, {Path: "/opt/app", Kind: safepath.Directory, Open: true},
		{Path: "/opt/app/bin/app", Vague: true}, {Path: "/tmp/app.tar.gz", Kind: safepath.Missing},
	}, d.Effects)
	d = archive(t, nil).Decide(ArchiveState{})
	require.True(t, d.Complete)
	d = archive(t, func(a *Archive) { extracted(a); a.Cleanup = true }).Decide(created(present))
	require.True(t, d.Complete)
	require.Equal(t, []overlay.PathEffect{{Path: "/tmp/app.tar.gz", Kind: safepath.Missing}}, d.Effects)
}

// "The Ensure field in CommonResourceState is set to: present if the archive
// file exists, absent if the archive file does not exist."
func TestArchiveCurrentEnsure(t *testing.T) {
	require.Equal(t, "present", present.CurrentEnsure())
	require.Equal(t, "absent", ArchiveState{}.CurrentEnsure())
}

// "Required Properties", "URL Validation" and the requirements of cleanup.
func TestArchiveValidate(t *testing.T) {
	require.NoError(t, archive(t, nil).Validate())
	require.NoError(t, Archive{Name: "/a", Ensure: ArchiveAbsent, MaxEntries: 1}.Validate())
	for name, remote := range map[string]string{
		"/a.tgz": "https://h/a.tar.gz", "/a.tar.gz": "http://h/a.tgz", "/a.tar": "HTTPS://h/a.tar?x=.zip", "/a.ZIP": "https://h/A.zip#frag",
	} {
		require.NoError(t, archive(t, func(a *Archive) { a.Name, a.URL = name, parseURL(t, remote) }).Validate(), remote)
	}
	for _, x := range []struct {
		change func(*Archive)
		err    string
	}{
		{func(a *Archive) { a.URL = URL{} }, "url: is required unless ensure is absent"},
		{func(a *Archive) { a.Owner = "" }, "owner: is required unless ensure is absent"},
		{func(a *Archive) { a.Group = "" }, "group: is required unless ensure is absent"},
		{func(a *Archive) { a.Name = "app.tar.gz" }, `name: expected an absolute path, got "app.tar.gz"`},
		{func(a *Archive) { a.Name = "/tmp/../app.tar.gz" }, `name: expected a path without . or .. or doubled slashes, got "/tmp/../app.tar.gz"`},
		{func(a *Archive) { a.URL = parseURL(t, "https://h/app.rar") }, `url: expected a path that ends in one of .tar.gz, .tgz, .tar.xz, .txz, .tar.zst, .tzst, .tar.bz2, .tbz2, .tar, .zip, .gz, .xz, .zst, .bz2, got "app.rar"`},
		{func(a *Archive) { a.URL = parseURL(t, "https://h") }, `url: expected a path that ends in one of .tar.gz, .tgz, .tar.xz, .txz, .tar.zst, .tzst, .tar.bz2, .tbz2, .tar, .zip, .gz, .xz, .zst, .bz2, got "."`},
		{func(a *Archive) { a.URL = parseURL(t, "https://h/get?file=app.tar.gz") }, `url: expected a path that ends in one of .tar.gz, .tgz, .tar.xz, .txz, .tar.zst, .tzst, .tar.bz2, .tbz2, .tar, .zip, .gz, .xz, .zst, .bz2, got "get"`},
		{func(a *Archive) { a.URL = parseURL(t, "https://h/app.zip") }, "url: expected the suffix .tar.gz that the name has, got .zip"},
		{func(a *Archive) { a.Name = "/tmp/app.tar" }, "url: expected the suffix .tar that the name has, got .tar.gz"},
		{func(a *Archive) { a.Name = "/tmp/app" }, `name: expected a path that ends in one of .tar.gz, .tgz, .tar.xz, .txz, .tar.zst, .tzst, .tar.bz2, .tbz2, .tar, .zip, .gz, .xz, .zst, .bz2, got "/tmp/app"`},
		{func(a *Archive) { a.Cleanup, a.Creates = true, "/x" }, "cleanup: requires extract_parent"},
		{func(a *Archive) { a.Cleanup, a.ExtractParent = true, "/x" }, "cleanup: requires creates, which shows whether the archive is extracted"},
		{func(a *Archive) { a.ExtractParent = "opt" }, `extract_parent: expected an absolute path, got "opt"`},
		{func(a *Archive) { a.Creates = "opt" }, `creates: expected an absolute path, got "opt"`},
		{func(a *Archive) { a.Creates = a.Name }, "creates: expected a path in the archive, got the archive"},
		{func(a *Archive) { a.Password = "x" }, "password: requires username"},
		{func(a *Archive) { a.Username, a.URL = "u", parseURL(t, "https://u:p@h/app.tar.gz") }, "username: cannot be used together with a user in url"},
		{func(a *Archive) { a.Username = "a:b" }, "username: expected a name without a colon"},
		{func(a *Archive) { a.Username, a.Headers = "u", map[string]Secret{"authorization": "Bearer x"} }, "username: cannot be used together with the header Authorization"},
		{func(a *Archive) { a.Headers = map[string]Secret{"X Y": "x"} }, `headers: expected the name of a header, got "X Y"`},
		{func(a *Archive) { a.Headers = map[string]Secret{"": "x"} }, `headers: expected the name of a header, got ""`},
		{func(a *Archive) { a.Headers = map[string]Secret{"X": "x\r\nY: z"} }, "headers: expected one line as the value of X"},
		{func(a *Archive) { a.Headers = map[string]Secret{"x-a": "1", "X-A": "2"} }, "headers: X-A is given twice"},
		{func(a *Archive) { a.MaxEntries = 0 }, "max_entries: must be at least 1, got 0"},
	} {
		err := archive(t, x.change).Validate()
		require.EqualError(t, err, x.err)
		_, ok := errors.AsType[*resource.PropertyError](err)
		require.True(t, ok)
	}
}

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.net/a.zip":                   "https://example.net/a.zip",
		"http://deploy:s3cret@h:80/a.zip":             "http://xxxxx@h:80/a.zip",
		"https://t0ken@h/a.zip?X-Signature=s3cret#fr": "https://xxxxx@h/a.zip?xxxxx",
	} {
		u := parseURL(t, text)
		require.Equal(t, want, u.String())
		require.NotNil(t, u.Parse())
		for _, verb := range []string{"%v", "%+v", "%s", "%#v", "%q"} {
			require.NotContains(t, fmt.Sprintf(verb, struct{ U URL }{u}), "s3cret", verb)
		}
	}
	for text, want := range map[string]string{
		"ftp://user:s3cret@h/a.zip": `expected a URL that begins with http:// or https://, got "ftp://xxxxx@h/a.zip"`,
		"/etc/a.zip":                `expected a URL that begins with http:// or https://, got "/etc/a.zip"`,
		"":                          `expected a URL that begins with http:// or https://, got ""`,
		"https:///a.zip":            `expected a URL with a host, got "https:///a.zip"`,
		"https://u:s3/cret@h/a.zip": "expected a URL such as https://example.net/app.tar.gz, got one that cannot be read",
		"https://h/%zz":             "expected a URL such as https://example.net/app.tar.gz, got one that cannot be read",
	} {
		var u URL
		require.EqualError(t, u.UnmarshalText([]byte(text)), want)
	}
}

func TestChecksum(t *testing.T) {
	for _, text := range []string{strings.Repeat("ab", 32), strings.Repeat("AB", 32), "sha256:" + strings.Repeat("ab", 32)} {
		var c Checksum
		require.NoError(t, c.UnmarshalText([]byte(text)))
		require.Equal(t, rightSum, c)
	}
	for _, text := range []string{"", "a1b2c3d4", strings.Repeat("xy", 32), strings.Repeat("ab", 33), "md5:" + strings.Repeat("ab", 32)} {
		var c Checksum
		require.EqualError(t, c.UnmarshalText([]byte(text)), fmt.Sprintf("expected a SHA-256 of 64 hexadecimal digits, got %q", text))
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"10GiB": 10 << 30, "512MiB": 512 << 20, "1KB": 1000, "7 B": 7, "2TiB": 2 << 40, "1kB": 1000} {
		var s, again Size
		require.NoError(t, s.UnmarshalText([]byte(text)))
		require.Equal(t, want, s, text)
		require.NoError(t, again.UnmarshalText([]byte(s.String())))
		require.Equal(t, s, again)
	}
	require.Equal(t, "10GiB", Size(10<<30).String())
	require.Equal(t, "1000B", Size(1000).String())
	for _, text := range []string{"", "10", "0B", "-1GiB", "1.5GiB", "GiB", "99999999999TiB", "10gib"} {
		var s Size
		require.ErrorContains(t, s.UnmarshalText([]byte(text)), "expected a size such as", text)
	}
}

// Credentials of a request are never printed.
func TestArchiveKeepsSecrets(t *testing.T) {
	a := archive(t, func(a *Archive) {
		a.Username, a.Password = "deploy", "s3cret"
		a.Headers = map[string]Secret{"X-Api-Key": "s3cret"}
	})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		require.NotContains(t, fmt.Sprintf(verb, a), "s3cret", verb)
	}
	text, err := json.Marshal(a)
	require.NoError(t, err)
	require.NotContains(t, string(text), "s3cret")
	s := schema.Of(reflect.TypeFor[Archive]())
	for _, name := range []string{"password", "headers"} {
		require.True(t, s.Field(name).Secret, name)
	}
	require.Equal(t, "", Secret("").String())
}

// TestArchiveOnURLChange: what creates names is there. Another archive is extracted only if on_url_change says so.
func TestArchiveOnURLChange(t *testing.T) {
	sum := func(c string) string { return strings.Repeat(c, 64) }
	for name, c := range map[string]struct {
		have    ArchiveState
		extract bool
	}{
		"same":         {ArchiveState{ArchiveExists: true, Checksum: sum("a")}, false},
		"other":        {ArchiveState{ArchiveExists: true, Checksum: sum("b")}, true},
		"other source": {ArchiveState{ArchiveExists: true, Checksum: sum("a"), SourceDiffers: true}, true},
		"extracted":    {ArchiveState{ArchiveExists: true, Checksum: sum("b"), Extracted: host.Extraction{Checksum: sum("a")}}, false},
		"not replaced": {ArchiveState{ArchiveExists: true, Checksum: sum("a"), Extracted: host.Extraction{Checksum: sum("b")}}, true},
		"cleaned up":   {ArchiveState{Extracted: host.Extraction{Checksum: sum("b")}}, true},
		"mirror":       {ArchiveState{WantURL: "http://b", Extracted: host.Extraction{URL: "http://a", Checksum: sum("a")}}, false},
		"not read":     {ArchiveState{ArchiveExists: true}, false},
		"archive gone": {ArchiveState{}, false},
	} {
		c.have.CreatesExists = true
		if c.have.ArchiveExists {
			c.have.Kind = safepath.Regular
		}
		a := Archive{Name: "/srv/a.tar.gz", Checksum: Checksum(sum("a")), ExtractParent: "/opt", Creates: "/opt/x", OnURLChange: ArchiveIgnore}
		require.True(t, a.Decide(c.have).Stable(), name)
		require.Equal(t, c.extract, a.IsOther(c.have), name)
		a.OnURLChange = ArchiveExtract
		var verbs []string
		for _, x := range a.Decide(c.have).Actions {
			verbs = append(verbs, x.Verb)
		}
		want := []string(nil)
		if c.extract {
			want = []string{"Download", "Extract"}
		}
		if name == "not replaced" { // the right archive is there, but an earlier one was extracted
			want = want[1:]
		}
		require.Equal(t, want, verbs, name)
	}
}

package resources

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

func packageAt(version string, order int) PackageState {
	return PackageState{Metadata: PackageMetadata{Name: "zsh", Version: version}, Order: order}
}

// Properties other than the version.
func TestPackageWishes(t *testing.T) {
	yes, no := new(true), new(false)
	violating := func(version, candidate string, order int) PackageState {
		s := packageAt(version, order)
		s.Violates, s.Candidate = true, candidate
		return s
	}
	held := packageAt("1.0", -1)
	held.Held = true
	automatic, automaticOld := packageAt("1.0", 0), packageAt("1.0", -1)
	automatic.Automatic, automaticOld.Automatic = true, true
	old := packageAt("1.0", 0)
	old.IndexAge = "3 days old"
	oldViolating := violating("1.0", "", 0)
	oldViolating.IndexAge = "3 days old"
	for _, x := range []struct {
		name                        string
		want                        Package
		have                        PackageState
		would, diff, err, uncertain string
	}{
		{"constraint holds", Package{Ensure: ">= 1"}, packageAt("1.0", 0), "", "", "", ""},
		{"constraint, older", Package{Ensure: ">= 2"}, violating("1.0", "2.1", -1), "Would have upgraded", "ensure: 1.0 → 2.1", "", ""},
		{"constraint, newer", Package{Ensure: "< 2"}, violating("2.1", "1.0", 1), "Would have downgraded", "ensure: 2.1 → 1.0", "", ""},
		{"constraint, newer, no downgrade", Package{Ensure: "< 2", AllowDowngrade: no}, violating("2.1", "1.0", 1), "", "ensure: 2.1 → 1.0",
			"expected 1.0, found 2.1, which is newer: allow_downgrade is false", ""},
		{"constraint, absent", Package{Ensure: "< 2"}, PackageState{}, "Would have installed", "ensure: absent → < 2", "", ""},
		{"constraint that no repository meets", Package{Ensure: "> 3"}, violating("1.0", "", 0), "", "ensure: 1.0 → > 3",
			"expected > 3, found 1.0, and no repository provides such a version", ""},
		{"constraint that a newer index may meet", Package{Ensure: "> 3", Refresh: 1}, oldViolating, "Would have upgraded", "ensure: 1.0 → > 3", "", ""},
		{"no downgrade", Package{Ensure: "1.0", AllowDowngrade: no}, packageAt("2.0", 1), "", "ensure: 2.0 → 1.0",
			"expected 1.0, found 2.0, which is newer: allow_downgrade is false", ""},
		{"latest of an old index", Package{Ensure: "latest", Refresh: 1}, old, "Would have upgraded to latest", "ensure: 1.0 → latest", "",
			"the package index is 3 days old and is refreshed first"},
		{"purged, absent", Package{Ensure: "purged"}, PackageState{}, "", "", "", ""},
		{"purged, residue", Package{Ensure: "purged"}, PackageState{Residue: true}, "Would have purged", "ensure: configured → purged", "", ""},
		{"purged, installed", Package{Ensure: "purged"}, packageAt("1.0", 0), "Would have purged", "ensure: 1.0 → purged", "", ""},
		{"hold", Package{Ensure: "present", Hold: yes}, packageAt("1.0", 0), "Would have held", "hold: false → true", "", ""},
		{"manual", Package{Ensure: "present", Manual: true}, automatic, "Would have marked as manually installed", "manual: false → true", "", ""},
		{"manual already", Package{Ensure: "present", Manual: true}, packageAt("1.0", 0), "", "", "", ""},
		{"manual by an upgrade", Package{Ensure: "2.0", Manual: true}, automaticOld, "Would have upgraded to 2.0", "ensure: 1.0 → 2.0", "", ""},
		{"hold, absent", Package{Ensure: "present", Hold: yes}, PackageState{}, "Would have installed. Would have held", "ensure: absent → present, hold: false → true", "", ""},
		{"held, other version", Package{Ensure: "2.0", Hold: yes}, held, "Would have released. Would have upgraded to 2.0. Would have held", "ensure: 1.0 → 2.0", "", ""},
		{"release", Package{Ensure: "present", Hold: no}, held, "Would have released", "hold: true → false", "", ""},
		{"held, absent", Package{Ensure: "present", Hold: no}, PackageState{Held: true}, "Would have released. Would have installed", "ensure: absent → present, hold: true → false", "", ""},
		{"not held", Package{Ensure: "present", Hold: no}, packageAt("1.0", 0), "", "", "", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.want.Name = "zsh"
			require.NoError(t, x.want.Validate())
			d := x.want.Decide(x.have)
			var would []string
			for _, a := range d.Actions {
				would = append(would, a.Would())
			}
			require.Equal(t, x.would, strings.Join(would, ". "))
			require.Equal(t, x.diff, d.String())
			require.Equal(t, x.uncertain, d.Uncertain)
			if x.err != "" {
				require.EqualError(t, d.Err, x.err)
			} else {
				require.NoError(t, d.Err)
			}
		})
	}
}

// Properties that contradict each other.
func TestPackageContradictions(t *testing.T) {
	for err, p := range map[string]Package{
		`ensure: expected conditions such as ">= 1.2, < 2", got ">= , < 2"`: {Ensure: ">= , < 2"},
		`ensure: expected conditions such as ">= 1.2, < 2", got "> 1; x"`:   {Ensure: "> 1; x"},
		`ensure: expected conditions such as ">= 1.2, < 2", got "1.0, 2.0"`: {Ensure: "1.0, 2.0"},
		"options: expected words, got an empty one":                         {Options: []string{"-x", ""}},
		"manual: an absent package cannot be marked":                        {Ensure: "absent", Manual: true},
		"hold: an absent package cannot be held":                            {Ensure: "purged", Hold: new(true)},
		"checksum: requires source":                                         {Checksum: "00"},
		"source: a package from a URL requires a checksum":                  {Source: "https://example.org/x.deb"},
		`source: requires ensure = "present" or the version of the source`:  {Ensure: "latest", Source: "/x.deb"},
	} {
		p.Name = "zsh"
		if p.Ensure == "" {
			p.Ensure = "present"
		}
		require.EqualError(t, p.Validate(), err)
	}
}

// The decision table of the package document, with its noop messages. Changes by the list of decisions in
// spec/README.md are noted beside the row.
func TestPackageDecide(t *testing.T) {
	absent := PackageState{}
	latest := func(version, candidate string, order int) PackageState {
		s := packageAt(version, order)
		s.Candidate = candidate
		return s
	}
	held := func(s PackageState) PackageState { s.Held = true; return s }
	for _, x := range []struct {
		name   string
		ensure PackageEnsure
		have   PackageState
		verb   string
		would  string
		diff   string
		err    string
	}{
		{name: "present, installed (any version)", ensure: "present", have: packageAt("1.0", 0)},
		{name: "present, absent: README item 10", ensure: "present", have: absent,
			verb: "Install", would: "Would have installed", diff: "ensure: absent → present"},
		{name: "absent, absent", ensure: "absent", have: absent},
		{name: "absent, installed", ensure: "absent", have: packageAt("1.0", 0),
			verb: "Uninstall", would: "Would have uninstalled", diff: "ensure: 1.0 → absent"},
		{name: "latest, absent", ensure: "latest", have: absent,
			verb: "Install", would: "Would have installed latest", diff: "ensure: absent → latest"},
		{name: "latest, installed and older", ensure: "latest", have: latest("1.0", "2.0", -1),
			verb: "Upgrade", would: "Would have upgraded to latest", diff: "ensure: 1.0 → 2.0"},
		{name: "latest, candidate installed: README item 10", ensure: "latest", have: latest("2.0", "2.0", 0)},
		{name: "latest, installed from elsewhere and newer", ensure: "latest", have: latest("3.0", "2.0", 1)},
		{name: "latest, no candidate", ensure: "latest", have: latest("3.0", "", 0)},
		{name: "version, same version", ensure: "1.0", have: packageAt("1.0", 0)},
		{name: "version, same to the package system", ensure: "5.8", have: packageAt("5.8-9.el9", 0)},
		{name: "version, older version", ensure: "2.0", have: packageAt("1.0", -1),
			verb: "Upgrade", would: "Would have upgraded to 2.0", diff: "ensure: 1.0 → 2.0"},
		{name: "version, newer version", ensure: "1.0", have: packageAt("2.0", 1),
			verb: "Downgrade", would: "Would have downgraded to 1.0", diff: "ensure: 2.0 → 1.0"},
		{name: "version, absent", ensure: "1.0", have: absent,
			verb: "Install", would: "Would have installed version 1.0", diff: "ensure: absent → 1.0"},
		{name: "unfinished is installed again", ensure: "present", have: PackageState{Problem: "half-configured"},
			verb: "Install", would: "Would have installed", diff: "ensure: half-configured → present"},
		{name: "unfinished is removed", ensure: "absent", have: PackageState{Problem: "unpacked"},
			verb: "Uninstall", would: "Would have uninstalled", diff: "ensure: unpacked → absent"},
		{name: "unfinished is purged", ensure: "purged", have: PackageState{Problem: "half-installed"},
			verb: "Uninstall", would: "Would have purged", diff: "ensure: half-installed → purged"},
		{name: "unfinished, held and unwanted", ensure: "absent", have: held(PackageState{Problem: "unpacked"}),
			err: "expected absent, found unpacked, which is on hold", diff: "ensure: unpacked → absent"},
		{name: "held as wished", ensure: "1.0", have: held(packageAt("1.0", 0))},
		{name: "held otherwise", ensure: "2.0", have: held(packageAt("1.0", -1)),
			err: "expected 2.0, found 1.0, which is on hold", diff: "ensure: 1.0 → 2.0"},
		{name: "held and unwanted", ensure: "absent", have: held(packageAt("1.0", 0)),
			err: "expected absent, found 1.0, which is on hold", diff: "ensure: 1.0 → absent"},
		{name: "held, not there", ensure: "present", have: held(absent),
			verb: "Install", would: "Would have installed", diff: "ensure: absent → present"},
	} {
		d := Package{Name: "zsh", Ensure: x.ensure}.Decide(x.have)
		require.Equal(t, x.diff, d.String(), x.name)
		require.False(t, d.Complete, x.name)
		if x.err != "" {
			require.EqualError(t, d.Err, x.err, x.name)
			require.Empty(t, d.Actions, x.name)
			continue
		}
		require.NoError(t, d.Err, x.name)
		if x.verb == "" {
			require.True(t, d.Stable(), x.name)
			continue
		}
		require.Len(t, d.Actions, 1, x.name)
		require.Equal(t, x.verb, d.Actions[0].Verb, x.name)
		require.Equal(t, x.would, d.Actions[0].Would(), x.name)
	}
}

// The status response of the package document.
func TestPackageCurrentEnsure(t *testing.T) {
	require.Equal(t, "5.8-9.el9", packageAt("5.8-9.el9", 0).CurrentEnsure())
	require.Equal(t, "absent", PackageState{}.CurrentEnsure())
	require.Equal(t, "absent", PackageState{Problem: "half-installed"}.CurrentEnsure())
}

// Package name validation of the package document, and what apt and dnf would
// take for an option.
func TestPackageValidate(t *testing.T) {
	const chars = "name: expected a package name of letters, digits and . _ + : ~ @ -, got "
	const version = `ensure: expected present, absent, purged, latest, a version of letters, digits and . _ + : ~ ^ -, or conditions such as ">= 1.2, < 2", got `
	for _, x := range []struct {
		name   string
		ensure PackageEnsure
		err    string
	}{
		{"zsh", "present", ""},
		{"g++", "absent", ""},
		{"libc6:i386", "latest", ""},
		{"python@3.12", "present", ""},
		{"@web", "present", `name: expected a package name, got "@web", which begins like that of a group`},
		{"python3.11_Dev~x-y", "1:2.0.0+git-20190109~rc1-0ubuntu2", ""},
		{"zsh", "1.0^20240101git", ""},
		{"zsh", "r4", ""},
		{"", "present", "name: expected the name of a package, got an empty string"},
		{"a;b", "present", chars + `"a;b"`},
		{"a|b", "present", chars + `"a|b"`},
		{"a&b", "present", chars + `"a&b"`},
		{"a$b", "present", chars + `"a$b"`},
		{"a b", "present", chars + `"a b"`},
		{"a\nb", "present", chars + `"a\nb"`},
		{`a"b`, "present", chars + `"a\"b"`},
		{"a'b", "present", chars + `"a'b"`},
		{"a`b", "present", chars + "\"a`b\""},
		{"a/b", "present", chars + `"a/b"`},
		{`a\b`, "present", chars + `"a\\b"`},
		{"a*", "present", chars + `"a*"`},
		{"a=1", "present", chars + `"a=1"`},
		{"zäh", "present", chars + `"zäh"`},
		{"--reinstall", "present", `name: expected a package name, got "--reinstall", which begins like an option`},
		{"zsh", "1.0; reboot", version + `"1.0; reboot"`},
		{"zsh", "1.0*", version + `"1.0*"`},
		{"zsh", "$(id)1", version + `"$(id)1"`},
		{"zsh", "", `ensure: expected present, absent, purged, latest, a version or conditions such as ">= 1.2, < 2", got ""`},
		{"zsh", "presnt", `ensure: expected present, absent, purged, latest, a version or conditions such as ">= 1.2, < 2", got "presnt"`},
		{"zsh", "-1", `ensure: expected present, absent, purged, latest, a version or conditions such as ">= 1.2, < 2", got "-1"`},
	} {
		err := Package{Name: x.name, Ensure: x.ensure}.Validate()
		if x.err == "" {
			require.NoError(t, err, "%q %q", x.name, x.ensure)
			continue
		}
		require.EqualError(t, err, x.err)
	}
	require.EqualError(t, Package{Name: "a b", Ensure: "c d"}.Validate(), chars+`"a b"`+"\n"+version+`"c d"`, "both at once")
}

func TestPackageDecode(t *testing.T) {
	decode := func(ensure schema.Value) (*resource.Resource, error) {
		return PackageType.Type.Decode(&schema.Table{Entries: []schema.Entry{
			{Key: "name", Val: schema.StringValue("zsh")}, {Key: "ensure", Val: ensure},
		}}, resource.Origin{})
	}
	for _, x := range []struct {
		ensure schema.Value
		want   PackageEnsure
	}{
		{schema.Value{}, "present"},
		{schema.StringValue("latest"), "latest"},
		{schema.Value{Kind: schema.Float, F: 1.1, S: "1.10"}, "1.10"}, // as a manifest writes it
	} {
		r, err := decode(x.ensure)
		require.NoError(t, err)
		require.Equal(t, &Package{Name: "zsh", Ensure: x.want}, r.Spec)
		require.Equal(t, string(x.want), r.Spec.(resource.EnsureReporter).WantedEnsure())
	}
	_, err := decode(schema.NumberValue(1.1)) // as a script does
	require.ErrorContains(t, err, "expected a string, got the number 1.1")
	_, err = decode(schema.StringValue("latset"))
	require.ErrorContains(t, err, `package#zsh: ensure: expected present, absent, purged, latest, a version or conditions such as ">= 1.2, < 2", got "latset"`)
	require.ErrorContains(t, err, `did you mean "latest"?`)
}

func TestPackagePerform(t *testing.T) {
	err := Package{Name: "zsh"}.Perform(t.Context(), nil, nil, resource.Action{Verb: "Reinstall"})
	require.EqualError(t, err, `unknown verb of package "Reinstall"`)
}

// TestPackagesTogether: packages with different values of a property are not installed in one call, so that the value of
// the first one does not decide for all. Who adds a property extends Package.Together, or lists it here.
func TestPackagesTogether(t *testing.T) {
	each := []string{"Name", "Ensure"} // the verbs look at these for each package
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Package]()) {
		if slices.Contains(each, f.Name) || f.Name == "Checksum" { // never without a source
			continue
		}
		p := Package{Name: "a", Ensure: PackagePresent}
		q := p
		switch v := reflect.ValueOf(&q).Elem().FieldByIndex(f.Index); v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int64:
			v.SetInt(1)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(f.Type, 1, 1))
		case reflect.Pointer: // to a bool, which is true by default or not managed
			v.Set(reflect.New(f.Type.Elem()))
		default:
			t.Fatalf("no other value for %s", f.Name)
		}
		require.False(t, p.together(q), f.Name)
	}
}

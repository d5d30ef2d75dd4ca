package apt

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What dpkg-query 1.21 printed for an unknown name that others provide, a
// package with its configuration left, one of several architectures, and one
// with a long description.
const dpkgOutput = "awk   not-installed unknown awk\t\t\n" +
	"ccm-demo 1.1 all config-files deinstall ccm-demo\t\tccm lab package ccm-demo\n" +
	"ccm-ma 1.0 amd64 installed hold ccm-ma:amd64\t\tx\n" +
	"ccm-ma 1.0 i386 half-configured install ccm-ma:i386\t\tx\n" +
	"dash 0.5.12-2 amd64 installed install dash\thttp://gondor.apana.org.au/~herbert/dash/\tPOSIX-compliant shell\n" +
	" The Debian Almquist Shell (dash) is a POSIX-compliant shell derived\n" +
	" from ash.\n" +
	" .\n" +
	" Since it executes scripts faster than bash, and has fewer library\n" +
	" dependencies (making it more robust against software or hardware\n" +
	" failures), it is used as the default system shell on Debian systems.\n"

func TestParseRecords(t *testing.T) {
	list, err := parseRecords(dpkgOutput)
	require.NoError(t, err)
	require.Equal(t, []record{
		{pkg: "awk", status: "not-installed", want: "unknown", unique: "awk"},
		{pkg: "ccm-demo", version: "1.1", arch: "all", status: "config-files", want: "deinstall", unique: "ccm-demo", summary: "ccm lab package ccm-demo"},
		{pkg: "ccm-ma", version: "1.0", arch: "amd64", status: "installed", want: "hold", unique: "ccm-ma:amd64", summary: "x"},
		{pkg: "ccm-ma", version: "1.0", arch: "i386", status: "half-configured", want: "install", unique: "ccm-ma:i386", summary: "x"},
		{
			pkg: "dash", version: "0.5.12-2", arch: "amd64", status: "installed", want: "install", unique: "dash",
			homepage: "http://gondor.apana.org.au/~herbert/dash/", summary: "POSIX-compliant shell",
			description: "The Debian Almquist Shell (dash) is a POSIX-compliant shell derived\nfrom ash.\n\n" +
				"Since it executes scripts faster than bash, and has fewer library\n" +
				"dependencies (making it more robust against software or hardware\n" +
				"failures), it is used as the default system shell on Debian systems.",
		},
	}, list)
}

// The table of package states of the APT document, and the two statuses of dpkg
// that it leaves out.
func TestStates(t *testing.T) {
	for _, x := range []struct {
		status     string
		present    bool
		unfinished string
	}{
		{"installed", true, ""},
		{"config-files", false, ""},
		{"half-installed", false, "half-installed"},
		{"half-configured", false, "half-configured"},
		{"unpacked", false, "unpacked"},
		{"not-installed", false, ""},
		{"triggers-awaited", false, "triggers-awaited"},
		{"triggers-pending", false, "triggers-pending"},
	} {
		have, err := state(name{pkg: "zsh"}, map[string][]record{"zsh": {{pkg: "zsh", version: "5.9", status: x.status}}})
		require.NoError(t, err)
		require.Equal(t, x.present, have.Installed(), x.status)
		require.Equal(t, x.unfinished, have.Problem, x.status)
	}
}

// The example of the APT document, and what apt-cache 2.6 printed for a package
// that can be had only for another architecture, a virtual one, and one with a
// pin that forbids it.
const policyOutput = `zsh:
  Installed: 5.9-8+b18
  Candidate: 5.9-8+b18
  Version table:
 *** 5.9-8+b18 500
        500 http://deb.example.org/debian trixie/main amd64 Packages
        100 /var/lib/dpkg/status
ccm-w:i386:
  Installed: (none)
  Candidate: 1.0
  Version table:
     1.0 500
        500 file:/srv/ccm-lab/apt ./ Packages
awk:
  Installed: (none)
  Candidate: (none)
  Version table:
ccm-demo:
  Installed: (none)
  Candidate: (none)
  Package pin: 2.0
  Version table:
     2.0 -1
        500 file:/srv/ccm-lab/apt ./ Packages
        100 /var/lib/dpkg/status
     1.1 -1
        500 file:/srv/ccm-lab/apt ./ Packages
`

func TestParsePolicy(t *testing.T) {
	require.Equal(t, map[string]offer{
		"zsh":        {candidate: "5.9-8+b18", versions: []string{"5.9-8+b18"}, offered: true},
		"ccm-w:i386": {candidate: "1.0", versions: []string{"1.0"}, offered: true},
		"awk":        {},
		"ccm-demo":   {versions: []string{"2.0", "1.1"}, offered: true},
	}, parsePolicy(policyOutput))
}

func FuzzParseRecords(f *testing.F) {
	f.Add(dpkgOutput)
	f.Add(" a\n\t\t\n")
	f.Fuzz(func(t *testing.T, out string) {
		list, err := parseRecords(out)
		if err != nil {
			return
		}
		for _, r := range list {
			_, err := pick([]record{r})
			known := r.status == installed || slices.Contains(gone, r.status) || slices.Contains(unfinished, r.status)
			require.Equal(t, known, err == nil)
		}
	})
}

func FuzzParsePolicy(f *testing.F) {
	f.Add(policyOutput)
	f.Add(":\n     \n *** x\n")
	f.Fuzz(func(t *testing.T, out string) {
		for pkg, o := range parsePolicy(out) {
			require.Contains(t, out, pkg+":")
			for _, version := range append(o.versions, o.candidate) {
				require.Contains(t, out, version)
				require.False(t, strings.Contains(version, "\n"))
			}
		}
	})
}

package rpm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The example output of the DNF document.
func TestParseRecords(t *testing.T) {
	found := map[string][]Record{}
	require.NoError(t, parseRecords("package nosuch is not installed\n"+
		"zsh 0 5.8 9.el9 x86_64\tMIT\thttp://zsh.sourceforge.net/\tPowerful interactive shell\n(none)\n\x1e\n"+
		"zsh 0 5.8 9.el9 x86_64\tMIT\thttp://zsh.sourceforge.net/\tPowerful interactive shell\n(none)\n\x1e\n", found))
	zsh := []Record{{Name: "zsh", EVR: EVR{"0", "5.8", "9.el9"}, Arch: "x86_64", license: "MIT", url: "http://zsh.sourceforge.net/", summary: "Powerful interactive shell"}}
	require.Equal(t, map[string][]Record{"nosuch": nil, "zsh": zsh, "zsh.x86_64": zsh}, found)
	require.Equal(t, "5.8-9.el9", zsh[0].WithoutEpoch())
}

func FuzzParseRecords(f *testing.F) {
	f.Add("package nosuch is not installed\nzsh 0 5.8 9.el9 x86_64\tMIT\t(none)\tx\ny\n\x1e\n")
	f.Add("package  is not installed")
	f.Fuzz(func(t *testing.T, out string) {
		found := map[string][]Record{}
		if parseRecords(out, found) == nil && out != "" {
			require.NotEmpty(t, found)
		}
	})
}

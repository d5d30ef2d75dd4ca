package luatype

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReferencePage: docs/types.md has every field of ccm.type and of a property, every type of property, and every
// function of host.
func TestReferencePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/types.md")
	require.NoError(t, err)
	text := string(page)
	for _, name := range append(append([]string{}, keys...), propertyKeys...) {
		require.Regexp(t, "(?m)^\\|[^|]*`"+name+"[`(]", text)
	}
	for _, name := range typeNames {
		require.Contains(t, text, "`"+name+"`")
	}
	for _, set := range []map[string]func(*call) int{looks, actCalls()} {
		for name := range set {
			require.Regexp(t, "(?m)^\\|.*`host\\."+name+"[ (]", text)
		}
	}
	known := regexp.MustCompile("`host\\.(\\w+)[ (]").FindAllStringSubmatch(text, -1)
	for _, m := range known {
		_, look := looks[m[1]]
		_, act := acts[m[1]]
		require.True(t, look || act, "there is no host.%s", m[1])
	}
}

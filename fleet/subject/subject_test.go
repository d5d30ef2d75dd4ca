package subject

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	for _, good := range []string{"web1", "0", "a-b", "prod", strings.Repeat("a", 63)} {
		require.NoError(t, CheckName("node", good))
	}
	for _, bad := range []string{"", "-a", "Web1", "a.b", "a*", ">", "a b", "a_b", "é", "a\n", strings.Repeat("a", 64), "{{name()}}", "$KV"} {
		require.Error(t, CheckName("node", bad), "%q", bad)
	}
}

func TestNodeName(t *testing.T) {
	for host, want := range map[string]string{
		"web1": "web1", "web1.example.net": "web1-example-net", "WEB1.Example.NET.": "web1-example-net",
		"-x": "x", "": "", "...": "", "a_b": "a-b", strings.Repeat("a", 62) + ".b": strings.Repeat("a", 62),
	} {
		require.Equal(t, want, NodeName(host), "%q", host)
	}
}

func FuzzNodeName(f *testing.F) {
	f.Add("web1.example.net")
	f.Fuzz(func(t *testing.T, host string) {
		if name := NodeName(host); name != "" {
			require.NoError(t, CheckName("node", name))
		}
	})
}

func TestSubjects(t *testing.T) {
	require.Equal(t, "ccm.v1.job.prod", Job("prod", ""))
	require.Equal(t, "ccm.v1.do.prod.web1", Order("prod", "web1"))
	require.Equal(t, "$JS.API.DIRECT.GET.KV_CCM_CONTROL.$KV.CCM_CONTROL.prod.release", DirectGet(KVStream(Control), KV(Control, ReleaseKey("prod"))))
	require.Equal(t, "$JS.API.DIRECT.GET.OBJ_CCM_SITES_prod", DirectGet(ObjectStream(Sites("prod")), ""))
}

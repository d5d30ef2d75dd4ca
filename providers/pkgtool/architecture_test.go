package pkgtool

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/resource"
)

// TestAddQualified: packages that come or go are found by the names in the site.
func TestAddQualified(t *testing.T) {
	plain := func(name string) string { pkg, _, _ := strings.Cut(name, ":"); return pkg }
	list := []resource.Prediction{{Installs: []string{"nginx", "curl"}}, {Removes: []string{"nginx", "libc6:i386"}}, {}}
	AddQualified([]resources.Package{{Name: "nginx:amd64"}, {Name: "curl"}, {Name: "libc6:i386"}}, list, plain)
	require.Equal(t, []resource.Prediction{
		{Installs: []string{"nginx", "curl", "nginx:amd64"}}, {Removes: []string{"nginx", "libc6:i386", "nginx:amd64"}}, {},
	}, list)
}

package facts

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

func TestPackagesOfDebian(t *testing.T) {
	v := rootWith(t, map[string]string{
		"/etc/os-release": "ID=debian\n", "/usr/bin/apt-get": "",
		"/var/lib/dpkg/status": "Package: nginx\nStatus: install ok installed\nVersion: 1:1.22.1-9\nDescription: a\n Version: 0\n\nPackage: gone\nStatus: deinstall ok config-files\nVersion: 1\n\nPackage: lib.so\nVersion: 2\nStatus: hold ok installed\n",
	})
	require.Equal(t, map[string]any{"nginx": "1:1.22.1-9", "lib.so": "2"}, get(t, v, "packages"))
	require.Equal(t, "2", get(t, v, `packages.lib\.so`))
}

// rpms answers as rpm does.
type rpms struct{ root string }

// Run implements host.Runner.
func (r rpms) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	if !slices.Equal(c.Argv, []string{"rpm", "-qa", "--queryformat", `%{NAME}\t%{EVR}\n`, "--root", r.root}) {
		return host.Result{Code: 1, Stderr: []byte(c.String())}, nil
	}
	return host.Result{Stdout: []byte("bash\t5.1.8-9.el9\nkernel\t5.14.0-1\nkernel\t5.14.0-2\nopenssl\t1:3.0.7-28.el9\n")}, nil
}

func TestPackagesOfRedHat(t *testing.T) {
	v := rootWith(t, map[string]string{"/etc/os-release": "ID=rocky\nID_LIKE=\"rhel fedora\"\n", "/usr/bin/dnf": ""})
	v = &host.New(host.Options{Root: v.Root(), Runner: rpms{v.Root()}}).View
	require.Equal(t, map[string]any{"bash": "5.1.8-9.el9", "kernel": "5.14.0-2", "openssl": "1:3.0.7-28.el9"}, get(t, v, "packages"))
}

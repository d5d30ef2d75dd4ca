package systemd

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.Lister = (*services)(nil)

// kinds are the kinds of unit, besides services, that Names lists.
var kinds = []string{".mount", ".path", ".socket", ".target", ".timer"}

// Names implements resource.Lister: the services with a unit file, by their usual names, and
// units of other kinds by their full names. Templates are left out.
func (*services) Names(_ context.Context, v *host.View, prefix string) ([]string, error) {
	var names []string
	for _, dir := range unitDirs {
		entries, err := v.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			name, ok := strings.CutSuffix(entry, ".service")
			ok = ok || slices.Contains(kinds, filepath.Ext(entry))
			if ok && strings.HasPrefix(name, prefix) && !strings.Contains(entry, "@.") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

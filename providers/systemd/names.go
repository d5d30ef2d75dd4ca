package systemd

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.Lister = (*services)(nil)

// Names implements resource.Lister: the services that have a unit file, by the
// names that people call them. Templates are not services.
func (*services) Names(_ context.Context, v *host.View, prefix string) ([]string, error) {
	var names []string
	for _, dir := range unitDirs {
		entries, err := v.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			name, ok := strings.CutSuffix(entry, ".service")
			if ok && strings.HasPrefix(name, prefix) && !strings.HasSuffix(name, "@") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

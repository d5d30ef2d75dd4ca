package systemd

import (
	"context"
	"sync"

	"github.com/luaccm/ccm/runtime/host"
)

// reloader makes systemd read its unit files again (daemon-reload) before an action that depends on
// them. It does so once, if systemd may not have read the present files. After that it does so
// only for a unit that systemd would certainly handle by an old file.
type reloader struct {
	mu   sync.Mutex
	done bool
}

// reloadIfNeeded makes sure that systemd has read the present unit file of a unit.
func (r *reloader) reloadIfNeeded(ctx context.Context, h *host.Host, m *manager, name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	u, err := m.one(ctx, &h.View, name)
	if err != nil {
		return err
	}
	needed, err := m.outdated(&h.View, u)
	needed = needed || m.login != nil // whether systemd of a user has unread files is not known
	if err == nil && !needed && !r.done {
		needed, err = hasUnreadFiles(ctx, &h.View)
		needed = needed || u.NeedDaemonReload == ""
	}
	if err != nil || !needed {
		return err
	}
	if err := m.do(ctx, h, m.systemctl("daemon-reload")); err != nil {
		return err
	}
	r.done = true
	return nil
}

// outdated reports whether systemd's view of u differs from the files on disk.
func (s *scope) outdated(v *host.View, u unit) (bool, error) {
	if u.NeedDaemonReload == "yes" {
		return true, nil
	}
	if s.login != nil {
		return false, nil
	}
	file, err := s.unitFile(v, u.Id)
	if err == nil && file != "" && (u.LoadState == "not-found" || u.shadowed(file)) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return s.hasNewDropin(v, u.Id)
}

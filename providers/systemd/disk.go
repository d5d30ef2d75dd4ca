package systemd

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
)

// unitDirs are the directories of system unit files of people and packages, in order of
// precedence (systemd.unit(5)).
var unitDirs = []string{
	"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
}

// unitFiles returns the possible paths of a unit's file, with those of its template, and of the
// script of a System V service.
func (s *scope) unitFiles(name string) []string {
	names := []string{name}
	if prefix, instance, ok := strings.Cut(name, "@"); ok && !strings.HasPrefix(instance, ".") {
		names = append(names, prefix+"@"+filepath.Ext(name))
	}
	var paths []string
	for _, n := range names {
		for _, dir := range s.dirs {
			paths = append(paths, filepath.Join(dir, n))
		}
	}
	if service, ok := strings.CutSuffix(name, ".service"); ok && s.login == nil {
		paths = append(paths, "/etc/init.d/"+service)
	}
	return paths
}

// unitFile returns the unit file that systemd would read now, "" if there is none. Links do not
// count: they are aliases and masks.
func (s *scope) unitFile(v *host.View, name string) (string, error) {
	for _, path := range s.unitFiles(name) {
		info, err := v.Lstat(path)
		if err != nil {
			return "", err
		}
		if info.Kind == safepath.Regular {
			return path, nil
		}
	}
	return "", nil
}

// pendingFile returns a file of a unit about which a plan assumes something, and the assumed
// kind.
func (s *scope) pendingFile(v *host.View, name string) (string, safepath.FileKind) {
	for _, path := range s.unitFiles(name) {
		if kind, ok := v.Overlay().Assumed(path); ok {
			return path, kind
		}
	}
	return "", safepath.Missing
}

// dropinDirs returns the possible directories of a unit's drop-ins.
func (s *scope) dropinDirs(name string) []string {
	dirs := s.unitFiles(name)
	for i := range dirs {
		dirs[i] += ".d"
	}
	return dirs
}

// hasNewDropin reports whether a drop-in of a unit was added, removed or replaced since systemd
// last read its unit files. NeedDaemonReload does not tell this for the first drop-in in a
// directory.
func (s *scope) hasNewDropin(v *host.View, name string) (bool, error) {
	loaded, err := v.Lstat(unitsLoad)
	if err != nil || loaded.Kind == safepath.Missing {
		return false, err
	}
	for _, dir := range s.dropinDirs(name) {
		changed, err := changeOf(v, dir)
		if err != nil || !changed.IsZero() && !changed.Before(loaded.MTime) {
			return err == nil, err
		}
	}
	return false, nil
}

// isOlder reports whether a unit was started before its unit file or a drop-in was written. Then
// systemd may have read the new files while the unit still runs by the old ones. Files that
// systemd itself generates do not count, because they are always new.
func (u unit) isOlder(v *host.View) (bool, error) {
	started := u.startTime()
	if started.IsZero() {
		return false, nil
	}
	for _, path := range append(strings.Fields(u.DropInPaths), u.FragmentPath) {
		if path == "" || strings.HasPrefix(path, "/run/systemd/generator") || strings.HasPrefix(path, "/run/systemd/transient/") {
			continue
		}
		info, err := v.Stat(path)
		if err != nil {
			return false, err
		}
		if info.MTime.After(started) {
			return true, nil
		}
	}
	return false, nil
}

// hasPendingDefinition reports whether a plan assumes something about the unit file of a unit or
// a drop-in.
func (s *scope) hasPendingDefinition(v *host.View, name string) (bool, error) {
	if path, _ := s.pendingFile(v, name); path != "" || !v.IsPlan() {
		return path != "", nil
	}
	for _, dir := range s.dropinDirs(name) {
		entries, err := svctool.Entries(v, dir)
		if err != nil {
			return false, err
		}
		for _, entry := range entries {
			if _, ok := v.Overlay().Assumed(filepath.Join(dir, entry)); ok {
				return true, nil
			}
		}
	}
	return false, nil
}

// cannotMask returns the reason why a unit cannot be masked: there is a unit file in the place of
// the mask. It is "" if there is none.
func (s *scope) cannotMask(v *host.View, name string) (string, error) {
	path := filepath.Join(s.dirs[0], name)
	info, err := v.Lstat(path)
	if err != nil || info.Kind == safepath.Missing {
		return "", err
	}
	return path + " is where the mask would be", nil
}

// links returns the units that are started by links in the configuration, which enable makes and disable
// removes, with a link to each.
func (s *scope) links(v *host.View) (map[string]string, error) {
	names := make(map[string]string)
	for _, dir := range s.dirs[:s.configured] {
		entries, err := svctool.Entries(v, dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if ext := filepath.Ext(entry); ext != ".wants" && ext != ".requires" && ext != ".upholds" {
				continue
			}
			linked, err := svctool.Entries(v, filepath.Join(dir, entry))
			if err != nil {
				return nil, err
			}
			for _, name := range linked {
				names[name] = filepath.Join(dir, entry, name)
			}
		}
	}
	return names, nil
}

// also returns the units of Also= in the [Install] section of a unit, which systemctl enables and disables
// along with it.
func (s *scope) also(v *host.View, u unit) ([]string, error) {
	path := u.FragmentPath
	if path == "" {
		var err error
		if path, err = s.unitFile(v, u.Id); err != nil || path == "" {
			return nil, err
		}
	}
	text, err := v.ReadUpTo(path, unitFileLimit)
	if err != nil {
		return nil, err
	}
	var names []string
	install := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			install = line == "[Install]"
		}
		if key, value, ok := strings.Cut(line, "="); ok && install && strings.TrimSpace(key) == "Also" {
			names = append(names, strings.Fields(value)...)
		}
	}
	return names, nil
}

// unitFileLimit is more than any unit file takes, in bytes.
const unitFileLimit = 1 << 20

// linkOf returns the link by which systemd knows a unit file in another directory, or that of its
// template (systemctl link), and the unit file. Both are "" if there is none; aliases and masks are
// other links.
func (s *scope) linkOf(v *host.View, name string) (link, target string, err error) {
	if s.login != nil { // links of a user are not followed
		return "", "", nil
	}
	for _, link := range s.unitFiles(name) {
		info, err := v.Lstat(link)
		if err != nil {
			return "", "", err
		}
		if info.Kind != safepath.Symlink {
			continue
		}
		target, err := v.Readlink(link)
		if err != nil {
			return "", "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(link), target)
		}
		if filepath.Base(target) == filepath.Base(link) && !slices.Contains(s.dirs, filepath.Dir(target)) {
			return link, target, nil
		}
	}
	return "", "", nil
}

// unitsLoad is a file whose time is that of systemd's last reading of its unit files. mount(8)
// uses it to tell whether fstab was read.
const unitsLoad = "/run/systemd/systemd-units-load"

// hasUnreadFiles reports whether a unit file was added, removed or replaced since systemd read them.
// If that cannot be told, it is true.
func hasUnreadFiles(ctx context.Context, v *host.View) (bool, error) {
	loaded, err := v.Lstat(unitsLoad)
	if err != nil || loaded.Kind == safepath.Missing {
		return true, err
	}
	dirs := append([]string{"/etc/init.d"}, unitDirs...)
	for _, dir := range unitDirs {
		dropins, err := v.Glob(ctx, dir+"/*.d", safepath.MaxNames)
		if err != nil {
			return true, err
		}
		dirs = append(dirs, dropins...)
	}
	for _, dir := range dirs {
		changed, err := changeOf(v, dir)
		if err != nil {
			return true, err
		}
		if !changed.Before(loaded.MTime) {
			return true, nil
		}
	}
	return false, nil
}

// shadowed reports whether another unit file has precedence over the one that systemd has read:
// one in a directory of higher precedence, or an instance's over its template's.
func (u unit) shadowed(file string) bool {
	if filepath.Base(file) != filepath.Base(u.FragmentPath) {
		return filepath.Base(file) == u.Id
	}
	return rank(file) < rank(u.FragmentPath)
}

// rank returns the index of a unit file's directory in unitDirs, or -1. /lib may be a link to
// /usr/lib.
func rank(file string) int {
	dir := filepath.Dir(file)
	if rest, ok := strings.CutPrefix(dir, "/lib/"); ok {
		dir = "/usr/lib/" + rest
	}
	return slices.Index(unitDirs, dir)
}

// changeOf returns the time when an entry was last added to a directory or removed.
func changeOf(v *host.View, dir string) (time.Time, error) {
	info, err := v.Lstat(dir)
	if err != nil || info.Kind != safepath.Directory {
		return time.Time{}, err
	}
	return info.MTime, nil
}

package machine

import (
	"context"
	"path"
	"slices"
	"strings"
)

// repositoriesBlock has what packages come from, packagesBlock the packages.
const repositoriesBlock, packagesBlock = packagesPart + ":Repositories", packagesPart + ":Packages"

// A placer finds the block of each item: which files belong to which service.
type placer struct {
	w       *Writer
	s       *Scan
	enabled map[string][]string // the enabled units of each application, by its name
	asked   map[string]Item     // the units whose enablement is an item
	texts   map[string]string   // the administrator's units, by application
	blocks  map[string]string   // of the paths
	// authored are the keys of texts in order, applications those of enabled.
	authored, applications []string
}

func newPlacer(w *Writer, s *Scan) *placer {
	p := &placer{w: w, s: s, enabled: map[string][]string{}, asked: map[string]Item{}, texts: map[string]string{}, blocks: map[string]string{}}
	for _, unit := range sortedKeys(s.enabled) {
		p.enabled[application(unit)] = append(p.enabled[application(unit)], unit)
	}
	for _, i := range s.Items {
		if c := w.read[i.Path]; i.Kind == Unit && c != nil && c.err == nil {
			p.texts[application(i.Name)] += string(c.text) + "\n"
		}
	}
	p.authored, p.applications = sortedKeys(p.texts), sortedKeys(p.enabled)
	for _, i := range s.Items {
		if i.Kind != Directory && i.Path != "" {
			p.blocks[i.Path] = p.blockOf(i)
		}
	}
	inside := map[string][]string{} // the blocks of what is in each directory
	for _, name := range sortedKeys(p.blocks) {
		for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
			if slices.Contains(inside[dir], p.blocks[name]) {
				break // so have those above it
			}
			inside[dir] = append(inside[dir], p.blocks[name])
		}
	}
	for _, i := range s.Items {
		if i.Kind == Directory {
			p.blocks[i.Path] = blockOfDirectory(inside[i.Path])
			if above := p.blocks[path.Dir(i.Path)]; len(inside[i.Path]) == 0 && above != "" { // an empty one
				p.blocks[i.Path] = above
			}
		}
	}
	return p
}

// application returns the name of what a unit or drop-in is part of: nginx for nginx.service.d/limits.
func application(unit string) string {
	unit, _, _ = strings.Cut(unit, ".d/")
	unit = strings.TrimSuffix(unit, path.Ext(unit))
	name, _, _ := strings.Cut(unit, "@")
	return name
}

// place returns the block of an item.
func (p *placer) place(i Item) string {
	switch i.Kind {
	case Package, LanguagePackage:
		return packagesBlock
	case User, Group, AuthorizedKey:
		return usersPart
	case File, Link, Directory, Unit:
		return p.blocks[i.Path]
	}
	return systemPart
}

// partPrefixes are the parts of files by the beginnings of their paths. The first that matches counts.
var partPrefixes = []struct{ manager, prefix, block string }{
	{"apt", "/etc/apt/", repositoriesBlock},
	{"dnf", "/etc/yum.repos.d/", repositoriesBlock},
	{"dnf", "/etc/dnf/", repositoriesBlock},
	{"dnf", "/etc/pki/rpm-gpg/", repositoriesBlock},
	{"zypper", "/etc/zypp/", repositoriesBlock},
	{"pacman", "/etc/pacman", repositoriesBlock},
	{"apk", "/etc/apk/", repositoriesBlock},
	{"", "/etc/sudoers", usersPart},
	{"", "/var/spool/cron", usersPart},
	{"", "/etc/skel/", filesPart},
	{"", "/etc/sysctl", systemPart},
	{"", "/etc/modules", systemPart},
	{"", "/etc/modprobe.d/", systemPart},
	{"", "/etc/udev/rules.d/", systemPart},
	{"", "/etc/security/", systemPart},
	{"", "/etc/logrotate.d/", filesPart},
	{"", "/etc/cron", filesPart},
}

// blockOf returns the block of a file, link or unit.
func (p *placer) blockOf(i Item) string {
	if i.Kind == Unit {
		return servicesPart + ":" + application(i.Name)
	}
	for _, pre := range partPrefixes {
		if (pre.manager == "" || pre.manager == p.s.Manager) && strings.HasPrefix(i.Path, pre.prefix) {
			return pre.block
		}
	}
	if strings.Contains(i.Path, "/.config/systemd/") {
		return usersPart
	}
	for _, app := range p.authored {
		for at := i.Path; strings.Count(at, "/") > 1; at = path.Dir(at) {
			if at == i.Path && containsWord(p.texts[app], at) || strings.HasPrefix(at, "/opt/") && containsWord(p.texts[app], at) {
				return servicesPart + ":" + app
			}
		}
	}
	for _, app := range p.applications {
		for _, unit := range p.enabled[app] {
			if i.Package != "" && p.s.shipped[templateOf(unit)] == i.Package && p.isServer(app) {
				return servicesPart + ":" + app
			}
		}
		for _, prefix := range []string{"/etc/" + app + "/", "/etc/" + app + ".", "/etc/default/" + app, "/etc/sysconfig/" + app} {
			if strings.HasPrefix(i.Path+"/", prefix+"/") || strings.HasPrefix(i.Path, prefix) && strings.HasSuffix(prefix, "/") || i.Path == prefix+"conf" {
				return servicesPart + ":" + app
			}
		}
	}
	return filesPart
}

// isServer reports whether an application is more than a job that a timer starts, which its package has besides: a file of
// package dpkg does not belong to dpkg-db-backup.timer.
func (p *placer) isServer(app string) bool {
	return !strings.HasPrefix(app, "systemd-") && slices.ContainsFunc(p.enabled[app], func(unit string) bool { return path.Ext(unit) != ".timer" })
}

// blockOfDirectory returns the block in which a directory comes before everything in it, in the blocks inside.
func blockOfDirectory(inside []string) string {
	if len(inside) == 0 {
		return filesPart
	}
	slices.SortStableFunc(inside, func(a, b string) int { return partNumber(a) - partNumber(b) })
	if len(inside) > 1 && partNumber(inside[0]) == len(parts)-1 {
		return filesPart
	}
	return inside[0]
}

func partNumber(block string) int {
	part, _, _ := strings.Cut(block, ":")
	return slices.Index(parts, part)
}

// wanted notes that the enablement of a unit is an item.
func (p *placer) wanted(i Item) { p.asked[i.Name] = i }

// services declares the services: behind their files, and those without any.
func (p *placer) services(ctx context.Context) {
	units := map[string]bool{}
	for unit := range p.asked {
		units[unit] = true
	}
	for app, list := range p.enabled {
		if len(p.w.blocks[servicesPart+":"+app]) > 0 {
			for _, unit := range list {
				units[unit] = true
			}
		}
	}
	for _, grouped := range []bool{true, false} {
		for _, unit := range sortedKeys(units) {
			if block := servicesPart + ":" + application(unit); (len(p.w.blocks[block]) > 0) == grouped {
				p.service(ctx, unit, block)
			}
		}
	}
}

// service declares a service with what it subscribes to.
func (p *placer) service(ctx context.Context, unit, block string) {
	d, err := p.w.importState(ctx, "service", strings.TrimSuffix(unit, ".service"))
	if err != nil {
		p.declare(ctx, unit, block, nil, err)
		return
	}
	var subscribe []string
	for _, other := range p.w.blocks[block] {
		if other.typ == "file" || other.typ == "unit" || other.typ == "line" || other.typ == "kv" || other.typ == "ini" {
			subscribe = append(subscribe, other.typ+"#"+other.name)
		}
	}
	ensure, _ := d.properties.Get("ensure")
	enable, _ := d.properties.Get("enable")
	switch {
	case ensure.S == "stopped" && enable.B: // such as one that ends by itself
		d.text("ensure", "unmanaged").remark("It was enabled, but not running: the site does not start it.")
	case ensure.S == "stopped":
	case len(subscribe) > 0:
		d.list("subscribe", subscribe)
	}
	if len(p.w.blocks[block]) == 0 {
		block = servicesPart + ":Other services"
	}
	p.declare(ctx, unit, block, one(d), nil)
}

// declare declares a service, which is an item if its enablement is.
func (p *placer) declare(ctx context.Context, unit, block string, tries [][]*declaration, err error) {
	err = p.w.declare(ctx, "service#"+unit, block, tries, err)
	if i, ok := p.asked[unit]; ok {
		p.w.forget(i, err)
	}
}

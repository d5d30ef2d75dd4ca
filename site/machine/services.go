package machine

import (
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/safepath"
)

// unitDirectory is the directory of the administrator's units.
const unitDirectory = "/etc/systemd/system/"

// isUnit reports whether a name is that of a unit file.
func isUnit(name string) bool {
	switch path.Ext(name) {
	case ".service", ".socket", ".timer", ".path", ".mount", ".automount", ".swap", ".target", ".slice":
		return !strings.Contains(name, "/")
	}
	return false
}

// unitOf returns the unit that a file below unitDirectory is or extends; it is named after the file without its suffix
// for a drop-in: nginx.service.d/limits.
func unitOf(name string) (string, bool) {
	rel, ok := strings.CutPrefix(name, unitDirectory)
	if !ok {
		return "", false
	}
	if isUnit(rel) {
		return rel, true
	}
	dir, file, ok := strings.Cut(rel, "/")
	unit, ok2 := strings.CutSuffix(dir, ".d")
	return strings.TrimSuffix(rel, ".conf"), ok && ok2 && isUnit(unit) && strings.HasSuffix(file, ".conf") && !strings.Contains(file, "/")
}

// isAlias reports whether a link in unitDirectory is an alias that enabling a unit has made.
func (r *reader) isAlias(name, target string) bool {
	return slices.Contains(r.installSection(target)["Alias"], path.Base(name)) || path.Base(name) == "default.target" && target != "" && r.isDefaultTarget(target)
}

// isDefaultTarget reports whether a target is that of an installed system.
func (r *reader) isDefaultTarget(target string) bool {
	return path.Base(target) == "multi-user.target" || path.Base(target) == "graphical.target"
}

// installSection returns the words of the section Install of a unit file, by key.
func (r *reader) installSection(name string) map[string][]string {
	found := map[string][]string{}
	if !strings.HasPrefix(name, "/") {
		name = path.Join(unitDirectory, name)
	}
	text, err := r.v.ReadText(name, largestFile)
	if err != nil {
		return found
	}
	in := false
	for _, line := range settings(text) {
		if line[0] == '[' {
			in = line == "[Install]"
		} else if key, value, ok := strings.Cut(line, "="); ok && in {
			key = strings.TrimSpace(key)
			found[key] = append(found[key], strings.Fields(value)...)
		}
	}
	return found
}

// services adds units that are enabled, disabled or masked other than their package does it.
func (r *reader) services() {
	enabled, masked := map[string]safepath.Info{}, map[string]safepath.Info{}
	for _, name := range r.names(unitDirectory) {
		at := unitDirectory + name
		info, err := r.v.Lstat(at)
		if err != nil {
			continue
		}
		if info.Kind == safepath.Symlink && isUnit(name) {
			if target, err := r.v.Readlink(at); err == nil && target == "/dev/null" {
				masked[name] = info
			}
		}
		if info.Kind == safepath.Directory && (strings.HasSuffix(name, ".wants") || strings.HasSuffix(name, ".requires")) {
			for _, unit := range r.names(at) {
				if link, err := r.v.Lstat(at + "/" + unit); err == nil && link.Kind == safepath.Symlink && isUnit(unit) {
					enabled[unit] = link
				}
			}
		}
	}
	own := map[string]bool{} // units of the administrator
	for _, name := range r.names(unitDirectory) {
		if info, err := r.v.Lstat(unitDirectory + name); err == nil && info.Kind == safepath.Regular {
			own[name] = true
		}
	}
	pkgs := map[string]string{}
	for _, pkg := range sortedKeys(r.db.packages) {
		for _, unit := range r.db.packages[pkg].units {
			pkgs[unit] = pkg
		}
	}
	r.scan.shipped, r.scan.enabled = pkgs, map[string]bool{}
	for unit := range enabled {
		if _, is := masked[unit]; !is && generatedReason("unit", unit) == "" {
			r.scan.enabled[unit] = true
		}
	}
	byDefault := r.defaultEnablement()
	add := func(unit, reason string, at safepath.Info) {
		if generatedReason("unit", unit) == "" && !own[unit] {
			r.add(Item{Kind: Service, Name: unit, Package: pkgs[templateOf(unit)], Changed: at.MTime, Reason: reason})
		}
	}
	for _, unit := range sortedKeys(masked) {
		add(unit, "masked", masked[unit])
	}
	for _, unit := range sortedKeys(enabled) {
		if _, is := masked[unit]; !is && !byDefault(unit) {
			add(unit, "enabled; its package does not enable it", enabled[unit])
		}
	}
	for _, unit := range sortedKeys(pkgs) {
		_, isMasked := masked[unit]
		if _, is := enabled[unit]; is || isMasked || !byDefault(unit) || strings.Contains(unit, "@.") {
			continue
		}
		if section := r.unitFile(unit); len(section["WantedBy"])+len(section["RequiredBy"]) > 0 {
			add(unit, "disabled; its package enables it", safepath.Info{})
		}
	}
}

// templateOf returns the template of an instance, and other units unchanged.
func templateOf(unit string) string {
	if name, _, ok := strings.Cut(unit, "@"); ok {
		return name + "@" + path.Ext(unit)
	}
	return unit
}

// unitFile returns the section Install of the file of a packaged unit.
func (r *reader) unitFile(unit string) map[string][]string {
	for _, dir := range unitDirectories {
		if section := r.installSection(dir + unit); len(section) > 0 {
			return section
		}
	}
	return nil
}

// defaultEnablement returns a function that reports whether a unit is enabled when its package is installed. On Debian
// the scripts of packages decide, and record it; elsewhere presets do.
func (r *reader) defaultEnablement() func(unit string) bool {
	const debian = "/var/lib/systemd/deb-systemd-helper-enabled"
	if r.db.manager == "apt" {
		recorded := map[string]bool{} // only units that were enabled are in directories; the others have a list of links
		for _, dir := range r.names(debian) {
			if strings.HasSuffix(dir, ".wants") || strings.HasSuffix(dir, ".requires") {
				for _, unit := range r.names(debian + "/" + dir) {
					recorded[unit] = true
				}
			}
		}
		return func(unit string) bool { return recorded[unit] }
	}
	type rule struct {
		enable  bool
		pattern string
	}
	files := map[string]string{}
	for _, dir := range []string{"/usr/lib/systemd/system-preset", "/lib/systemd/system-preset", "/etc/systemd/system-preset"} {
		for _, name := range r.names(dir) {
			files[name] = dir + "/" + name // a file in /etc replaces that of the same name
		}
	}
	var rules []rule
	for _, name := range sortedKeys(files) {
		for _, line := range settings(r.text(files[name])) {
			if words := strings.Fields(line); len(words) >= 2 {
				rules = append(rules, rule{words[0] == "enable", words[1]})
			}
		}
	}
	return func(unit string) bool {
		for _, rule := range rules {
			if ok, _ := path.Match(rule.pattern, unit); ok {
				return rule.enable
			}
		}
		return len(files) > 0 // systemd.preset(5): enabled if no line matches
	}
}

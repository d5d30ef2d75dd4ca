package systemd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// machine is a small systemd: unit files and links on a disk, the loaded ones, and the states of units. As in the
// real one, an inactive unit is unloaded and loaded again on the next query; an active one keeps the loaded file
// until daemon-reload, and so does UnitFileState of show. Its answers were recorded from systemd 252.
//
// Time advances by one tick with each show.
type machine struct {
	t     testing.TB
	root  string
	now   time.Time
	up    map[string]*process // units that systemd does not forget
	sysv  map[string]bool     // System V services that were found, and whether they are enabled
	did   []string            // verbs that changed something, in order
	shows int
	// synced is set once the journal has caught up with what units say.
	synced bool
	// tooOld makes it say as little as systemd did before it knew
	// NeedDaemonReload and systemd-units-load.
	tooOld bool
}

// file is a unit file.
type file struct {
	path, text string
	masked     bool
}

// process is what became of a unit.
type process struct {
	file            file
	unitFileState   string
	active, sub     string
	result, status  string
	restarts, ticks int
}

// Programs that a unit of the machine may run, by their ExecStart=.
const (
	runs     = "ExecStart=/bin/run\n"
	dies     = "ExecStart=/bin/die\n"
	diesSoon = "ExecStart=/bin/die-soon\n" // three ticks after it was started
	reloads  = "ExecReload=/bin/reload\n"
	falls    = "ExecReload=/bin/die\n"   // the service ends when it is reloaded
	refuses  = "ExecReload=/bin/false\n" // the service does not like its configuration
	install  = "[Install]\nWantedBy=multi-user.target\n"
)

const etc = "/etc/systemd/system/"

func newMachine(t testing.TB, root string) *machine {
	m := &machine{t: t, root: root, now: time.Unix(1e9, 0), up: make(map[string]*process), sysv: make(map[string]bool)}
	for _, dir := range []string{etc, booted, "/usr/lib/systemd/system", "/etc/init.d"} {
		require.NoError(t, os.MkdirAll(m.path(dir), 0o755))
		m.touch(dir)
	}
	m.reload()
	return m
}

func (m *machine) path(name string) string { return filepath.Join(m.root, name) }

// touch sets the time of a path to a new now.
func (m *machine) touch(name string) {
	m.now = m.now.Add(time.Second)
	require.NoError(m.t, os.Chtimes(m.path(name), m.now, m.now))
}

// touchDirs is touch for the directory of a file that came or went and for the
// one above it.
func (m *machine) touchDirs(name string) {
	m.touch(filepath.Dir(filepath.Dir(name)))
	m.touch(filepath.Dir(name))
}

// write writes a file as the file type does.
func (m *machine) write(name, text string) {
	_, err := os.Stat(filepath.Dir(m.path(name)))
	require.NoError(m.t, os.MkdirAll(filepath.Dir(m.path(name)), 0o755))
	require.NoError(m.t, os.WriteFile(m.path(name), []byte(text), 0o644))
	if err != nil {
		m.touchDirs(name)
	}
	m.touch(filepath.Dir(name))
}

// unit is write for a unit file that systemd has read.
func (m *machine) unit(name string, text ...string) *machine {
	m.write(etc+name, "[Service]\n"+strings.Join(text, ""))
	m.reload()
	return m
}

func (m *machine) link(target, name string) {
	require.NoError(m.t, os.MkdirAll(filepath.Dir(m.path(name)), 0o755))
	require.NoError(m.t, os.Symlink(target, m.path(name)))
	m.touchDirs(name)
}

// reload reads all unit files again.
func (m *machine) reload() {
	scripts, err := os.ReadDir(m.path("/etc/init.d"))
	require.NoError(m.t, err)
	for _, s := range scripts {
		m.sysv[s.Name()] = m.sysv[s.Name()]
	}
	for name, p := range m.up {
		p.file, _ = m.read(name)
		p.unitFileState = m.onDisk(name)
	}
	if !m.tooOld {
		require.NoError(m.t, os.WriteFile(m.path(unitsLoad), nil, 0o444))
		m.touch(unitsLoad)
	}
}

// read returns the unit file of a unit, and the name of the unit itself if the
// name is another one for it.
func (m *machine) read(name string) (file, string) {
	names := []string{name}
	if prefix, _, ok := strings.Cut(name, "@"); ok {
		names = append(names, prefix+"@.service")
	}
	for _, n := range names {
		for _, dir := range unitDirs {
			path := filepath.Join(dir, n)
			target, err := os.Readlink(m.path(path))
			switch {
			case err == nil && target == "/dev/null":
				return file{path: path, masked: true}, name
			case err == nil && strings.HasPrefix(target, etc):
				return m.read(filepath.Base(target))
			case err == nil:
				path = target
			}
			if text, err := os.ReadFile(m.path(path)); err == nil {
				return file{path: filepath.Join(dir, n), text: string(text)}, name
			}
		}
	}
	service := strings.TrimSuffix(name, ".service")
	if _, ok := m.sysv[service]; ok {
		return file{path: "/run/systemd/generator.late/" + name, text: runs + "generated"}, name
	}
	return file{}, name
}

// onDisk returns the answer of is-enabled.
func (m *machine) onDisk(name string) string {
	f, real := m.read(name)
	exists := func(path string) bool { _, err := os.Lstat(m.path(path)); return err == nil }
	service := strings.TrimSuffix(name, ".service")
	_, symlink := os.Readlink(m.path(f.path))
	switch {
	case f.path == "" && exists("/etc/init.d/"+service), strings.HasSuffix(f.text, "generated"):
		return map[bool]string{true: "enabled", false: "disabled"}[m.sysv[service]]
	case f.path == "":
		return ""
	case real != name:
		return "alias"
	case f.masked && strings.HasPrefix(f.path, "/run/"):
		return "masked-runtime"
	case f.masked:
		return "masked"
	case exists(etc + "multi-user.target.wants/" + name):
		return "enabled"
	case exists("/run/systemd/system/multi-user.target.wants/" + name):
		return "enabled-runtime"
	case symlink == nil:
		return "linked"
	case strings.Contains(f.text, "WantedBy="):
		return "disabled"
	case strings.Contains(f.text, "Also="):
		return "indirect"
	}
	return "static"
}

// start starts a unit and returns what systemctl says on standard error.
func (m *machine) start(name string) string {
	f, real := m.read(name)
	p := m.up[real]
	if p == nil {
		p = &process{file: f, unitFileState: m.onDisk(real)}
		m.up[real] = p
	}
	switch {
	case p.file.path == "":
		delete(m.up, real)
		return "Failed to start " + name + ": Unit " + name + " not found."
	case p.file.masked:
		return "Failed to start " + name + ": Unit " + name + " is masked."
	case !strings.Contains(p.file.text, "ExecStart="):
		delete(m.up, real)
		return "Failed to start " + name + ": Unit " + name + " has a bad unit file setting.\nSee system logs and 'systemctl status " + name + "' for details."
	}
	p.result, p.ticks, p.restarts = "success", 0, 0
	switch {
	case strings.Contains(p.file.text, "Type=oneshot\n") && !strings.Contains(p.file.text, "RemainAfterExit=yes"):
		delete(m.up, real)
	case strings.Contains(p.file.text, "Type=oneshot\n"):
		p.active, p.sub = "active", "exited"
	case strings.Contains(p.file.text, dies):
		p.die()
		if strings.Contains(p.file.text, "Type=forking\n") {
			return "Job for " + name + " failed because the control process exited with error code.\nSee \"systemctl status " + name + "\" and \"journalctl -xeu " + name + "\" for details."
		}
	default:
		p.active, p.sub = "active", "running"
	}
	return ""
}

func (p *process) die() {
	p.active, p.sub, p.result, p.status = "failed", "failed", "exit-code", "3"
	if strings.Contains(p.file.text, "Restart=always") {
		p.active, p.sub, p.ticks = "activating", "auto-restart", 0
	}
}

// tick lets time pass for a unit.
func (p *process) tick() {
	p.ticks++
	switch {
	case p.sub == "auto-restart":
		p.active, p.sub, p.result, p.ticks = "active", "running", "success", 0
		p.restarts++
	case p.sub == "start-pre" && p.ticks > 2 && strings.Contains(p.file.text, dies):
		p.die()
	case p.sub == "start-pre" && p.ticks > 2:
		p.active, p.sub = "active", "running"
	case p.sub == "reload" && p.ticks > 2:
		p.active, p.sub = "active", "running"
	case p.sub == "stop-sigterm" && p.ticks > 2:
		p.active, p.sub = "inactive", "dead"
	case p.sub == "running" && strings.Contains(p.file.text, diesSoon) && p.ticks > 2,
		p.sub == "running" && strings.Contains(p.file.text, dies):
		p.die()
	}
}

// is puts a unit into a state: active and sub.
func (m *machine) is(name, active, sub string) *machine {
	f, _ := m.read(name)
	m.up[name] = &process{file: f, unitFileState: m.onDisk(name), active: active, sub: sub, result: "success"}
	return m
}

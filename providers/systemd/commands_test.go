package systemd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// runner answers systemctl and journalctl.
func (m *machine) runner() *hosttest.Runner { return &hosttest.Runner{Answer: m.answer} }

// host returns the machine for a provider.
func (m *machine) host() *host.Host {
	return host.New(host.Options{Root: m.root, Runner: m.runner(), Clock: hosttest.Clock{}})
}

func (m *machine) answer(c host.Cmd) (host.Result, error) {
	require.False(m.t, c.KeepLocale, "the output of %s is parsed", c)
	switch {
	case c.String() == "journalctl --sync":
		m.synced = true
		return said(""), nil
	case c.Argv[0] == "journalctl" && !m.synced:
		return said("Started x.\n"), nil
	case c.Argv[0] == "journalctl":
		return said("Started x.\ncannot open /etc/x.conf\nMain process exited, status=3\n"), nil
	}
	require.Equal(m.t, "systemctl", c.Argv[0])
	require.Contains(m.t, c.Argv, "--system")
	verb := c.Argv[1]
	flags := func(a string) bool { return strings.HasPrefix(a, "--") }
	runtime := slices.Contains(c.Argv, "--runtime")
	names := slices.DeleteFunc(slices.Clone(c.Argv[2:]), flags)
	if verb == "show" {
		m.shows++
		var blocks []string
		for _, name := range names {
			if strings.HasSuffix(name, "@.service") {
				return failed(1, "Failed to get properties: Unit name "+name+" is neither a valid invocation ID nor unit name."), nil
			}
			blocks = append(blocks, m.show(name))
		}
		return said(strings.Join(blocks, "\n")), nil
	}
	name := ""
	if len(names) > 0 {
		name = unitName(names[0])
	}
	if verb == "is-enabled" {
		if word := m.onDisk(name); word != "" {
			return said(word + "\n"), nil
		}
		return failed(1, "Failed to get unit file state for "+name+": No such file or directory"), nil
	}
	m.did = append(m.did, strings.TrimSpace(verb+" "+strings.TrimSuffix(name, ".service")))
	return m.perform(verb, name, runtime), nil
}

func said(out string) host.Result { return host.Result{Stdout: []byte(out)} }

func failed(code int, err string) host.Result {
	return host.Result{Code: code, Stderr: []byte(err + "\n")}
}

// show returns the output of systemctl show for a unit.
func (m *machine) show(asked string) string {
	known := m.know(asked, true)
	var text strings.Builder
	for _, property := range properties {
		if val, ok := known[property]; ok {
			text.WriteString(property + "=" + val + "\n")
		}
	}
	return text.String()
}

// know returns the properties of a unit, by that or another name. If it is looked
// at, time passes.
func (m *machine) know(asked string, looked bool) map[string]string {
	f, name := m.read(asked)
	p := m.up[name]
	if p == nil {
		p = &process{file: f, unitFileState: m.onDisk(name), active: "inactive", sub: "dead", result: "success"}
		if strings.HasSuffix(f.text, "generated") {
			p.unitFileState = "generated"
		}
	}
	if looked {
		p.tick()
	}
	load := "loaded"
	switch {
	case p.file.path == "":
		load = "not-found"
	case p.file.masked:
		load = "masked"
	case !strings.Contains(p.file.text, "ExecStart="):
		load = "bad-setting"
	}
	word := p.unitFileState
	if p.file.path != "" && f.path == "" {
		word = "bad"
	}
	need := "no"
	switch {
	case p.file.path == "":
	case f.text != p.file.text && f.path == p.file.path, f.path == "":
		need = "yes"
	}
	known := map[string]string{
		"Type": typeOf(p.file.text), "Result": p.result, "NRestarts": strconv.Itoa(p.restarts),
		"ExecMainCode": map[bool]string{true: "1", false: "0"}[p.status != ""], "ExecMainStatus": p.status,
		"Id": name, "Names": name, "LoadState": load, "ActiveState": p.active, "SubState": p.sub,
		"FragmentPath": p.file.path, "UnitFileState": word,
	}
	if name != asked {
		known["Names"] += " " + asked
	}
	if !m.tooOld {
		known["CanReload"] = map[bool]string{true: "yes", false: "no"}[load == "loaded" && strings.Contains(p.file.text, "ExecReload=")]
		known["NeedDaemonReload"] = need
	}
	return known
}

func typeOf(text string) string {
	for line := range strings.Lines(text) {
		if val, ok := strings.CutPrefix(line, "Type="); ok {
			return strings.TrimSpace(val)
		}
	}
	return "simple"
}

func (m *machine) perform(verb, name string, runtime bool) host.Result {
	f, real := m.read(name)
	switch verb {
	case "daemon-reload":
		m.reload()
	case "start":
		if p := m.up[real]; p != nil && p.active == "active" {
			return host.Result{}
		}
		if err := m.start(name); err != "" {
			return failed(1, err)
		}
	case "restart":
		if p := m.up[real]; p != nil && p.file.masked {
			return failed(1, "Failed to restart "+name+": Unit "+name+" is masked.")
		}
		if err := m.start(name); err != "" {
			return failed(1, err)
		}
	case "reload":
		return m.reloadUnit(name, m.up[real])
	case "stop":
		delete(m.up, real)
	case "mask", "unmask":
		path := etc + name
		if runtime {
			path = "/run/systemd/system/" + name
		}
		target, _ := os.Readlink(m.path(path))
		switch _, err := os.Lstat(m.path(path)); {
		case verb == "mask" && err == nil && target != "/dev/null":
			return failed(1, "Failed to mask unit: File "+path+" already exists.")
		case verb == "mask" && err != nil:
			m.link("/dev/null", path)
		case verb == "unmask" && target == "/dev/null":
			require.NoError(m.t, os.Remove(m.path(path)))
			m.touchDirs(path)
		}
		m.reload()
	case "enable", "disable":
		return m.install(verb, name, f, runtime)
	case "link":
		m.link(name, etc+filepath.Base(name))
		m.reload()
	default:
		return failed(1, "Unknown command verb "+verb+".")
	}
	return host.Result{}
}

// reloadUnit runs what ExecReload= says.
func (m *machine) reloadUnit(name string, p *process) host.Result {
	switch {
	case p == nil || p.active != "active":
		return failed(1, name+" is not active, cannot reload.")
	case strings.Contains(p.file.text, refuses):
		return failed(1, "Job for "+name+" failed.\nSee \"systemctl status "+name+"\" and \"journalctl -xeu "+name+"\" for details.")
	case strings.Contains(p.file.text, falls):
		p.die()
	case !strings.Contains(p.file.text, reloads):
		return failed(1, "Failed to reload "+name+": Job type reload is not applicable for unit "+name+".")
	}
	return host.Result{}
}

func (m *machine) install(verb, name string, f file, runtime bool) host.Result {
	service := strings.TrimSuffix(name, ".service")
	dir := etc + "multi-user.target.wants/"
	if runtime {
		dir = "/run/systemd/system/multi-user.target.wants/"
	}
	_, real := m.read(name)
	switch {
	case f.path == "":
		return failed(1, fmt.Sprintf("Failed to %s unit: Unit file %s does not exist.", verb, name))
	case f.masked && verb == "enable":
		return failed(1, "Failed to enable unit: Unit file "+f.path+" is masked.")
	case real != name && verb == "enable":
		return failed(1, "Failed to enable unit: Refusing to operate on alias name or linked unit file: "+name)
	case strings.HasSuffix(f.text, "generated"):
		m.sysv[service] = verb == "enable"
	case strings.Contains(f.text, "Also="):
		_, others, _ := strings.Cut(f.text, "Also=")
		for other := range strings.FieldsSeq(others) {
			file, _ := m.read(other)
			if strings.Contains(other, "%") {
				continue
			}
			if res := m.install(verb, other, file, runtime); res.Code != 0 {
				return res
			}
		}
	case !strings.Contains(f.text, "WantedBy="):
		return said("The unit files have no installation config (WantedBy=, RequiredBy=, Also=,\n")
	case verb == "enable":
		m.link(f.path, dir+name)
	default:
		if err := os.Remove(m.path(dir + name)); err == nil {
			m.touchDirs(dir + name)
		}
		if target, err := os.Readlink(m.path(etc + name)); err == nil && !strings.HasPrefix(target, etc) {
			require.NoError(m.t, os.Remove(m.path(etc+name)))
			m.touch(etc)
		}
	}
	m.reload()
	return host.Result{}
}

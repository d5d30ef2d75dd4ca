package systemd

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/providers/svctool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// A scope is the units of one service manager: those of the system, or those of a user.
type scope struct {
	flag string // option of systemctl
	dirs []string
	// configured is the number of dirs that have the links of enable.
	configured int
	// login is the user, nil for the system; runtime is the user's XDG_RUNTIME_DIR.
	login   *host.Login
	runtime string
}

var systemScope = &scope{flag: "--system", dirs: unitDirs, configured: 2}

// userScope returns the scope of a user. Except for plans, the user's files are not looked at:
// links in them must not be followed by others.
func userScope(login *host.Login) *scope {
	runtime := "/run/user/" + strconv.FormatUint(uint64(login.UID), 10)
	return &scope{flag: "--user", login: login, runtime: runtime, configured: 4, dirs: []string{
		filepath.Join(login.Home, ".config/systemd/user"), "/etc/systemd/user", runtime + "/systemd/user", "/run/systemd/user",
		filepath.Join(login.Home, ".local/share/systemd/user"), "/usr/local/share/systemd/user", "/usr/share/systemd/user",
		"/usr/local/lib/systemd/user", "/usr/lib/systemd/user",
	}}
}

// systemctl returns a command about units of the scope. For a user's scope it runs as the user,
// because the user's service manager obeys nobody else.
func (s *scope) systemctl(verb string, args ...string) host.Cmd {
	c := systemctl(append([]string{verb, s.flag}, args...)...)
	if s.login != nil {
		c.As = s.login
		c.Env = append(c.Env, "XDG_RUNTIME_DIR="+s.runtime, "DBUS_SESSION_BUS_ADDRESS=unix:path="+s.runtime+"/bus")
	}
	return c
}

// logOf returns the arguments of journalctl for the log of a unit: messages of the unit, and
// about it.
func (s *scope) logOf(unit string) []string {
	if s.login == nil {
		return []string{"-u", unit}
	}
	uid := "_UID=" + strconv.FormatUint(uint64(s.login.UID), 10)
	return []string{
		uid, "_SYSTEMD_USER_UNIT=" + unit, "+", uid, "USER_UNIT=" + unit,
		"+", uid, "_SYSTEMD_UNIT=" + unit, // messages of a process that ended before the journal looked at it
	}
}

// isRunning returns an error unless the scope's service manager runs on the machine of v. It
// waits for one that is starting, as after "loginctl enable-linger": systemd limits that time.
func (s *scope) isRunning(ctx context.Context, v *host.View, wait svctool.Wait) error {
	if err := isBooted(v); err != nil || s.login == nil {
		return err
	}
	if v.Offline() != "" {
		return diag.Not("service manager of user "+s.login.Name, "running: %s", v.Offline())
	}
	for starting := true; ; {
		ok, err := v.Exists(s.runtime + "/systemd/private")
		if err != nil || ok {
			return err
		}
		if !starting {
			return diag.Not("service manager of user "+s.login.Name, "running (log in, or run: loginctl enable-linger %s)", s.login.Name)
		}
		if starting = s.isStarting(ctx, v); starting {
			err = wait(ctx, managerPoll)
		}
		if err != nil {
			return err
		}
	}
}

// managerPoll is the time between two looks at a service manager that is starting.
const managerPoll = 100 * time.Millisecond

// isStarting reports whether the service manager of the user is starting or queued to start.
func (s *scope) isStarting(ctx context.Context, v *host.View) bool {
	unit := "user@" + strconv.FormatUint(uint64(s.login.UID), 10) + ".service"
	res, err := v.Query(ctx, systemctl("show", "--system", "--property", "ActiveState,Job", "--", unit))
	return err == nil && slices.ContainsFunc(strings.Fields(string(res.Stdout)), func(line string) bool {
		job, waits := strings.CutPrefix(line, "Job=")
		return line == "ActiveState=activating" || waits && job != "" && job != "0"
	})
}

// services returns the services in the scope of want.
func (p *provider) services(ctx context.Context, v *host.View, want resources.Service) (*services, error) {
	if want.Scope != resources.UserService {
		return p.system, nil
	}
	uid, _ := host.Self() // the user who runs ccm
	if want.User != "" {
		var err error
		if uid, err = v.UserID(want.User); err != nil {
			return nil, err
		}
	}
	if overlay.IsPlaceholder(uid) {
		return nil, &resource.UnknownError{Reason: "the user " + want.User + " is pending"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.users[uid]; s != nil {
		return s, nil
	}
	login, err := v.Login(ctx, strconv.FormatUint(uint64(uid), 10), "")
	if err != nil {
		return nil, err
	}
	if p.users == nil {
		p.users = make(map[uint32]*services)
	}
	s := newServices(p.system.wait)
	s.ctl.scope = userScope(login)
	p.users[uid] = s
	return s, nil
}

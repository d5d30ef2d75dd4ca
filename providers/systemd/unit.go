package systemd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
)

// unit has systemd's properties of a unit, each in the field of its name.
type unit struct {
	name string // as asked for, with suffix

	Id, Names        string
	LoadState        string
	ActiveState      string
	SubState         string
	UnitFileState    string
	FragmentPath     string
	NeedDaemonReload string
	Type             string
	Result           string
	NRestarts        string
	ExecMainCode     string
	ExecMainStatus   string
	CanReload        string
	DropInPaths      string
	// InactiveExitTimestamp is the time of its start, ActiveEnterTimestamp that of the latest
	// start, which may be automatic.
	InactiveExitTimestamp, ActiveEnterTimestamp string
	// TriggeredBy are the units that start it, such as its socket.
	TriggeredBy string
}

// properties are the names to ask for.
var properties = []string{
	"Id", "Names", "LoadState", "ActiveState", "SubState", "UnitFileState", "FragmentPath",
	"NeedDaemonReload", "Type", "Result", "NRestarts", "ExecMainCode", "ExecMainStatus", "CanReload",
	"DropInPaths", "InactiveExitTimestamp", "ActiveEnterTimestamp", "TriggeredBy",
}

// property returns the field of a property, or nil.
func (u *unit) property(name string) *string {
	all := []*string{
		&u.Id, &u.Names, &u.LoadState, &u.ActiveState, &u.SubState, &u.UnitFileState, &u.FragmentPath,
		&u.NeedDaemonReload, &u.Type, &u.Result, &u.NRestarts, &u.ExecMainCode, &u.ExecMainStatus, &u.CanReload,
		&u.DropInPaths, &u.InactiveExitTimestamp, &u.ActiveEnterTimestamp, &u.TriggeredBy,
	}
	if i := slices.Index(properties, name); i >= 0 {
		return all[i]
	}
	return nil
}

// blocksOf splits the output of show into a block for each unit.
func blocksOf(out string) []string {
	out = strings.Trim(out, "\n")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n\n")
}

// parseUnit reads one block.
func parseUnit(name, block string) (unit, error) {
	u := unit{name: name}
	for line := range strings.Lines(block) {
		key, val, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if p := u.property(key); ok && p != nil {
			*p = val
		}
	}
	if u.Id == "" || u.LoadState == "" || u.ActiveState == "" {
		return u, fmt.Errorf("systemctl show: %w", diag.Expected("properties Id, LoadState and ActiveState of %s, got:\n%s", name, block))
	}
	return u, nil
}

// suffixes are the kinds of unit (systemd.unit(5)).
var suffixes = []string{
	".service", ".socket", ".device", ".mount", ".automount", ".swap", ".target", ".path", ".timer", ".slice", ".scope",
}

// unitName returns the unit of a service. Like systemctl it adds .service to a name without the
// suffix of a kind.
func unitName(service string) string {
	for _, s := range suffixes {
		if strings.HasSuffix(service, s) && service != s {
			return service
		}
	}
	return service + ".service"
}

// alias returns the unit's own name if u was asked for by another one, otherwise "".
func (u unit) alias() string {
	if u.Id != u.name && slices.Contains(strings.Fields(u.Names), u.name) {
		return u.Id
	}
	return ""
}

// startTime returns the start time of the unit, zero if unknown. The bus has it in microseconds;
// systemctl prints it for people, without fractions, so the end of that second is returned.
func (u unit) startTime() time.Time { return parseTime(u.InactiveExitTimestamp) }

// parseTime reads a timestamp of systemd; zero if there is none.
func parseTime(timestamp string) time.Time {
	if us, err := strconv.ParseInt(timestamp, 10, 64); err == nil && us > 0 {
		return time.UnixMicro(us)
	}
	t, err := time.Parse("Mon 2006-01-02 15:04:05 UTC", timestamp)
	if err != nil {
		return time.Time{}
	}
	return t.Add(time.Second - 1)
}

// unsettled reports whether a unit is changing its state.
func (u unit) unsettled() bool {
	return slices.Contains([]string{"activating", "deactivating", "reloading", "refreshing"}, u.ActiveState)
}

// isRunning interprets an answer of is-active, or an ActiveState, which is the same.
func isRunning(word string) (bool, error) {
	switch word {
	case "active":
		return true, nil
	case "inactive", "failed", "activating":
		return false, nil
	}
	return false, diag.Invalid("systemctl is-active output", fmt.Errorf("%q", word))
}

// isEnabled interprets an answer of is-enabled, or a UnitFileState, which is the same except for
// missing units.
func isEnabled(word string) (bool, error) {
	switch word {
	case "enabled", "enabled-runtime", "alias", "static", indirect, "generated", "transient":
		return true, nil
	case "linked", "linked-runtime", "masked", "masked-runtime", "disabled":
		return false, nil
	}
	return false, diag.Invalid("systemctl is-enabled output", fmt.Errorf("%q", word))
}

// cannotEnable returns the reason why enable and disable cannot change the answer of is-enabled, ""
// if they can.
func (u unit) cannotEnable() string {
	switch alias := u.alias(); {
	case alias != "":
		return "it is an alias of " + strings.TrimSuffix(alias, ".service") + " (enable or disable that one)"
	case u.UnitFileState == "static":
		return "its unit file lacks an [Install] section: other units start it"
	case u.UnitFileState == "generated" || u.UnitFileState == "transient":
		return "its unit file is " + u.UnitFileState + ", not installed"
	}
	return ""
}

// installs reports whether another [Install] section in the unit file would change the answer of
// is-enabled.
func (u unit) installs() bool {
	return u.UnitFileState == "static" || u.UnitFileState == indirect
}

// state returns u as a service. UnitFileState has to be that on disk.
func (u unit) state(managed bool) (have resources.ServiceState, err error) {
	if u.UnitFileState == notFound {
		return resources.ServiceState{Missing: true}, nil
	}
	have = resources.ServiceState{
		Active: u.ActiveState, Startup: u.UnitFileState,
		Starting:     u.ActiveState == "activating",
		Masked:       u.LoadState == "masked" || strings.HasPrefix(u.UnitFileState, "masked"),
		CannotEnable: u.cannotEnable(),
	}
	if have.Running, err = isRunning(u.ActiveState); err != nil && managed {
		return have, err
	}
	have.Enabled, err = isEnabled(u.UnitFileState)
	return have, err
}

// end describes how the service ended: its result and the status of its main process.
func (u unit) end() string {
	if u.Result == "" || u.Result == "success" {
		return ""
	}
	switch u.ExecMainCode {
	case "1":
		return fmt.Sprintf(" (result %s, exit status %s)", u.Result, u.ExecMainStatus)
	case "2", "3":
		return fmt.Sprintf(" (result %s, signal %s)", u.Result, u.ExecMainStatus)
	}
	return fmt.Sprintf(" (result %s)", u.Result)
}

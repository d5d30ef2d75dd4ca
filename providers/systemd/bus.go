package systemd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/coreos/go-systemd/v22/dbus"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/systembus"
)

// Names of systemd on the system bus (org.freedesktop.systemd1(5)).
const (
	busName       = "org.freedesktop.systemd1"
	managerPath   = "/org/freedesktop/systemd1"
	unitPath      = managerPath + "/unit/"
	listUnits     = busName + ".Manager.ListUnitsByNames"
	unitInterface = busName + ".Unit"
	getProperty   = "org.freedesktop.DBus.Properties.Get"
	getAll        = "org.freedesktop.DBus.Properties.GetAll"
)

// noProperty is the error about a property unknown to this systemd.
const noProperty = "org.freedesktop.DBus.Error.UnknownProperty"

// listedProperties are the properties of a unit in the answer of ListUnitsByNames, with their
// positions.
var listedProperties = map[string]int{"Id": 0, "LoadState": 2, "ActiveState": 3, "SubState": 4}

// unitProperties are the properties for Status that ListUnitsByNames lacks.
var unitProperties = []string{"UnitFileState", "NeedDaemonReload", "ActiveEnterTimestamp"}

// statusByBus asks systemd over the system bus for the properties that Status needs of units, in
// one exchange. A unit without a usable answer is nil.
func statusByBus(ctx context.Context, v *host.View, names []string) ([]*unit, error) {
	calls := make([]systembus.Call, 1, 1+len(unitProperties)*len(names))
	calls[0] = systembus.Call{Service: busName, Path: managerPath, Method: listUnits, Args: []any{names}}
	for _, name := range names {
		for _, property := range unitProperties {
			calls = append(calls, ofUnit(name, getProperty, unitInterface, property))
		}
	}
	replies, err := v.QueryBus(ctx, calls)
	if err != nil {
		return nil, err
	}
	rows := rowsOf(replies[0])
	units := make([]*unit, len(names))
	if len(rows) != len(names) {
		return units, nil // it leaves out names that no unit can have
	}
	for i, name := range names {
		units[i] = unitOf(name, rows[i], replies[1+i*len(unitProperties):][:len(unitProperties)])
	}
	return units, nil
}

// wholeByBus asks for all properties of units, as systemctl show does. A unit without a usable
// answer is nil.
func wholeByBus(ctx context.Context, v *host.View, names []string) ([]*unit, error) {
	calls := make([]systembus.Call, len(names))
	for i, name := range names {
		calls[i] = ofUnit(name, getAll, "")
	}
	replies, err := v.QueryBus(ctx, calls)
	if err != nil {
		return nil, err
	}
	units := make([]*unit, len(names))
	for i, name := range names {
		if values := replies[i].Values; replies[i].Err == nil && len(values) == 1 {
			if all, ok := values[0].(map[string]any); ok {
				units[i] = unitWith(name, all)
			}
		}
	}
	return units, nil
}

// ofUnit returns a call of a method of a unit.
func ofUnit(name, method string, args ...any) systembus.Call {
	return systembus.Call{Service: busName, Path: unitPath + dbus.PathBusEscape(name), Method: method, Args: args}
}

// rowsOf returns the rows in the answer of ListUnitsByNames; nil if it cannot be read.
func rowsOf(r systembus.Reply) [][]any {
	if r.Err != nil || len(r.Values) != 1 {
		return nil
	}
	list, _ := r.Values[0].([]any)
	rows := make([][]any, len(list))
	for i, x := range list {
		if rows[i], _ = x.([]any); len(rows[i]) <= listedProperties["SubState"] {
			return nil
		}
	}
	return rows
}

// unitOf makes a unit of its row and the other replies, or returns nil. It does not know the
// unit's other names.
func unitOf(name string, row []any, replies []systembus.Reply) *unit {
	all := make(map[string]any, len(listedProperties)+len(unitProperties))
	for property, at := range listedProperties {
		all[property] = row[at]
	}
	if all["Id"] != name {
		return nil
	}
	all["Names"] = []string{name}
	for i, r := range replies {
		if e, ok := errors.AsType[systembus.Error](r.Err); ok && e.Name == noProperty {
			continue
		}
		if r.Err != nil || len(r.Values) != 1 {
			return nil
		}
		all[unitProperties[i]] = r.Values[0]
	}
	return unitWith(name, all)
}

// unitWith makes a unit of its properties, or returns nil if a required property is missing.
func unitWith(name string, all map[string]any) *unit {
	u := &unit{name: name}
	for _, property := range properties {
		*u.property(property) = text(all[property])
	}
	if u.Id == "" || u.LoadState == "" || u.ActiveState == "" {
		return nil
	}
	return u
}

// text writes a property as systemctl show does.
func text(property any) string {
	switch p := property.(type) {
	case nil:
		return ""
	case bool:
		if p {
			return "yes"
		}
		return "no"
	case []string:
		return strings.Join(p, " ")
	}
	return fmt.Sprint(property)
}

// maxName is the largest number of characters in the name of a unit.
const maxName = 255

// isPlain reports whether a name is simply that of one unit. Systemctl also accepts patterns, and
// characters that it escapes; and only systemctl can handle templates.
func isPlain(name string) bool {
	if len(name) > maxName || strings.Contains(name, "@.") {
		return false
	}
	for _, c := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@", c) {
			return false
		}
	}
	return true
}

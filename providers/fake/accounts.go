package fake

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// account writes a user or a group into /etc/passwd and /etc/group, in the place of simulated
// commands, because later resources look for it there. It writes only the fields that others
// refer to: name, number, home and members.
func account(h *host.Host, a *overlay.Account) error {
	file, entry := "/etc/group", func(id string) string { return fmt.Sprintf("%s:x:%s:", a.Name, id) }
	if a.Kind == overlay.UserLook {
		home := cmp.Or(a.Home, "/home/"+a.Name)
		file, entry = "/etc/passwd", func(id string) string { return fmt.Sprintf("%s:x:%s:%[2]s::%s:/bin/sh", a.Name, id, home) }
	}
	text, err := h.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' })
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, a.Name+":") })
	switch {
	case a.Unsure, a.Absent && at < 0:
		return nil
	case a.Absent:
		lines = slices.Delete(lines, at, at+1)
	default:
		if at < 0 {
			id := a.ID
			if id == overlay.NoAccount {
				id = freeID(lines)
			}
			at, lines = len(lines), append(lines, entry(strconv.FormatUint(uint64(id), 10)))
		}
		if a.Kind == overlay.GroupLook {
			lines[at] = withMembers(lines[at], a.Members)
		}
	}
	if err := h.SaveDirectory("/etc"); err != nil {
		return err
	}
	dir, err := h.Lstat("/etc")
	if err != nil {
		return err
	}
	attr := safepath.Attr{UID: dir.UID, GID: dir.GID, Mode: 0o644}
	return h.WriteFile(file, strings.NewReader(strings.Join(append(lines, ""), "\n")), attr)
}

// freeID returns a number that is unused in the third fields of lines.
func freeID(lines []string) uint32 {
	id := uint32(50000) // far from those that sites say
	for _, l := range lines {
		if f := strings.Split(l, ":"); len(f) > 2 {
			if n, err := strconv.ParseUint(f[2], 10, 16); err == nil {
				id = max(id, uint32(n)+1)
			}
		}
	}
	return id
}

// withMembers returns the line of a group with further members.
func withMembers(line string, members []string) string {
	at := strings.LastIndexByte(line, ':') + 1
	have := strings.FieldsFunc(line[at:], func(c rune) bool { return c == ',' })
	for _, m := range members {
		if !slices.Contains(have, m) {
			have = append(have, m)
		}
	}
	return line[:at] + strings.Join(have, ",")
}

// accounts writes the users and groups among the effects of a resource whose commands are
// simulated.
func accounts(f *resource.Functions, h *host.Host, want *resource.Properties) error {
	if f.Effects == nil {
		return nil
	}
	effects, _, err := f.Effects(want, nil)
	for _, e := range effects {
		if err == nil && e.Account != nil {
			err = account(h, e.Account)
		}
	}
	return err
}

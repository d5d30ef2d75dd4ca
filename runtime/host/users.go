package host

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/accounts"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Self returns the user and the group of this process.
func Self() (uid, gid uint32) { return safepath.Self() }

// UserID returns the number of a user, given by name or number.
func (v *View) UserID(user string) (uint32, error) { return accountID(v, v.accounts.Users, user) }

// GroupID returns the number of a group, given by name or number.
func (v *View) GroupID(group string) (uint32, error) { return accountID(v, v.accounts.Groups, group) }

// PendingName returns the name of the account with a number that a plan assumes, "" for none.
func PendingName(v *View, kind overlay.LookKind, id uint32) string {
	if o := v.planned(); o != nil {
		return overlay.PendingName(o, kind, id)
	}
	return ""
}

// doubtNumbers notes, for two different numbers, that they may turn out to be one: that of an account that is going to be
// made, and one that has no account yet.
func doubtNumbers(v *View, d *accounts.Database, kind overlay.LookKind, a, b uint32) {
	if o := v.planned(); o != nil && overlay.IsPlaceholder(a) != overlay.IsPlaceholder(b) {
		if d.NameOf(min(a, b)) == strconv.FormatUint(uint64(min(a, b)), 10) { // placeholders are the largest numbers
			overlay.DoubtNumber(o, kind, a, b)
		}
	}
}

// OtherOwners returns the names of the owner and the group of a file if they are not the wanted ones, otherwise "". A plan
// depends on who makes a user or group that may get the number of the other one.
func OtherOwners(v *View, have safepath.Info, uid, gid uint32) (owner, group string) {
	if have.UID != uid {
		doubtNumbers(v, v.accounts.Users, overlay.UserLook, have.UID, uid)
		owner = v.UserName(have.UID)
	}
	if have.GID != gid {
		doubtNumbers(v, v.accounts.Groups, overlay.GroupLook, have.GID, gid)
		group = v.GroupName(have.GID)
	}
	return owner, group
}

// PendingAccount returns the account that a plan assumes, nil for none. Needed means that the
// caller needs the actual numbers, which nobody knows before the account exists.
func PendingAccount(v *View, kind overlay.LookKind, name string, needed bool) *overlay.Account {
	o := v.planned()
	if o == nil {
		return nil
	}
	a, by := overlay.PendingAccount(o, kind, name)
	if a != nil && needed && !a.Absent {
		o.Looks().NoteError(&overlay.NotKnownError{Path: name, Author: by})
	}
	if a == nil && needed && o.Looks() != nil { // records the look: a pending resource may make the account
		_, _ = accountID(v, map[overlay.LookKind]*accounts.Database{overlay.UserLook: v.accounts.Users, overlay.GroupLook: v.accounts.Groups}[kind], name)
	}
	return a
}

func accountID(v *View, d *accounts.Database, name string) (uint32, error) {
	id, err := d.ID(name)
	if o := v.planned(); o != nil {
		return o.Account(d, name, id, err)
	}
	return id, err
}

// A deniedError says what this process may not do: an [fs.ErrPermission].
type deniedError string

// Error implements error.
func (e deniedError) Error() string { return string(e) }

// Is reports whether kind is fs.ErrPermission, for [errors.Is].
func (deniedError) Is(kind error) bool { return kind == fs.ErrPermission }

// A noGroupError says that nobody knows the group of the user with a number.
type noGroupError uint32

// Error implements error.
func (e noGroupError) Error() string {
	return fmt.Sprintf("no user with uid %d, so the group of the command is unknown (set a group)", uint32(e))
}

// Login returns the login for a command that runs as a user, a group or both, each given by name
// or number; "" means that of this process. The groups are those of the user, with group as the
// primary one. It fails if this process may not become that user, and without a group if the user
// is a number without an account: nobody knows its group.
func (v *View) Login(ctx context.Context, user, group string) (*Login, error) {
	uid, gid := Self()
	privileged, self := uid == 0, uid
	var err error
	if user != "" {
		if uid, err = v.UserID(user); err != nil {
			return nil, err
		}
	}
	if group != "" {
		if gid, err = v.GroupID(group); err != nil {
			return nil, err
		}
	}
	if !privileged && (uid != self || group != "") {
		return nil, deniedError("only root can run a command as " + strings.Trim(user+":"+group, ":"))
	}
	if overlay.IsPlaceholder(uid) || overlay.IsPlaceholder(gid) { // in a plan: a pending resource makes the user or group
		return &Login{UID: uid, GID: gid, Name: user}, nil
	}
	e, err := v.accounts.Entry(uid)
	if err != nil {
		return nil, err
	}
	l := &Login{UID: uid, GID: e.GID, Name: e.Name, Home: e.Home, Shell: e.Shell}
	switch {
	case e.Name == "" && group == "" && uid == self:
		l.GID = gid
	case e.Name == "" && group == "":
		return nil, noGroupError(uid)
	case e.Name != "":
		if l.Groups, err = v.accounts.GroupsOf(ctx, e.Name); err != nil {
			return nil, err
		}
	}
	if group != "" {
		l.GID = gid
	}
	if !safepath.IsMapped(l.UID, l.GID) {
		return nil, diag.None("command can run as uid %d, gid %d: this user namespace does not have both (/proc/self/uid_map, gid_map)", l.UID, l.GID)
	}
	return l, nil
}

// UserName returns the name of a user, or the number as text if it has none.
func (v *View) UserName(uid uint32) string {
	return accountName(v, v.accounts.Users, overlay.UserLook, uid)
}

// GroupName returns the name of a group, or the number as text if it has none.
func (v *View) GroupName(gid uint32) string {
	return accountName(v, v.accounts.Groups, overlay.GroupLook, gid)
}

func accountName(v *View, d *accounts.Database, kind overlay.LookKind, id uint32) string {
	pending := PendingName(v, kind, id)
	if overlay.IsPlaceholder(id) && pending != "" {
		return pending
	}
	name := d.NameOf(id)
	if _, err := strconv.ParseUint(name, 10, 32); err == nil && pending != "" {
		return pending
	}
	return name
}

package host

import (
	"github.com/luaccm/ccm/runtime/host/accounts"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Self returns the user and the group of this process.
func Self() (uid, gid uint32) { return safepath.Self() }

// UserID returns the number of a user, given by name or number.
func (v *View) UserID(user string) (uint32, error) { return v.account(v.accounts.Users, user) }

// GroupID returns the number of a group, given by name or number.
func (v *View) GroupID(group string) (uint32, error) { return v.account(v.accounts.Groups, group) }

func (v *View) account(d *accounts.Database, name string) (uint32, error) {
	id, err := d.ID(name)
	if o := v.planned(); o != nil {
		return o.Account(d, name, id, err)
	}
	return id, err
}

// UserName returns the name of a user, or the number as text if it has none.
func (v *View) UserName(uid uint32) string { return v.accounts.Users.NameOf(uid) }

// GroupName returns the name of a group, or the number as text if it has none.
func (v *View) GroupName(gid uint32) string { return v.accounts.Groups.NameOf(gid) }

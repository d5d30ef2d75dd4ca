package overlay

import (
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/host/accounts"
	"github.com/luaccm/ccm/runtime/safepath"
)

// An accountKey names a user or a group.
type accountKey struct {
	kind LookKind
	name string
}

// assumeAccount is assume for a user or group.
func (a *assumptions) assumeAccount(x PathEffect, by any, tentative bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := accountKey{x.Account.Kind, x.Account.Name}
	e, old := &entry{PathEffect: x, by: by, tentative: tentative || x.Account.Unsure}, a.accounts[key]
	if own := *x.Account; old != nil && own.ID == NoAccount && !own.Absent && !old.Account.Absent { // its number stays
		own.ID, e.Account = old.Account.ID, &own
	}
	e.over(old)
	a.accounts[key] = e
	a.authors[by] = true
	if tentative {
		a.doubtful.Store(true)
	}
}

// PendingAccount returns what is assumed of a user or group, and who brings it about; nil for
// nothing. Its members are all that are put into a group.
func PendingAccount(o *View, kind LookKind, name string) (*Account, any) {
	e := accountOf(o, accountKey{kind, name})
	if e == nil {
		return nil, nil
	}
	a, by := *e.Account, e.by
	o.mu.RLock()
	defer o.mu.RUnlock()
	for ; e != nil && !e.Account.Absent; e = counted(o.excluded, e.replaced) {
		if e.tentative && o.looks != nil {
			o.looks.doubt(e.by)
		}
		if e.by != by {
			a.Members = slices.Concat(a.Members, e.Account.Members)
		}
	}
	return &a, by
}

// accountOf returns what is assumed of a user or group, nil for nothing.
func accountOf(o *View, key accountKey) *entry {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return counted(o.excluded, o.accounts[key])
}

// Account answers for the number of a user or group in a plan.
func (o *View) Account(d *accounts.Database, name string, id uint32, err error) (uint32, error) {
	e := o.at(d.Path)
	kind := UserLook
	if d.Kind == "group" {
		kind = GroupLook
	}
	if own := accountOf(o, accountKey{kind, name}); own != nil {
		a := own.Account
		if o.looks != nil {
			o.looks.add(Look{Kind: kind, Name: name, Found: !a.Absent && (!a.Unsure || err == nil)})
			if own.tentative && (err != nil || a.Members == nil) { // else it is there in any case
				o.looks.doubt(own.by)
			}
		}
		switch {
		case a.Absent && err == nil:
			return 0, fmt.Errorf("could not lookup %s %q: it is going to be removed", d.Kind, name)
		case a.Absent || a.Unsure || err == nil && a.ID == NoAccount:
			return id, err
		}
		return a.ID, nil
	}
	if e != nil && !e.Kept && e.Kind == safepath.Regular {
		switch {
		case e.Content != nil:
			if n, found := accounts.Lookup(*e.Content, name); found {
				return n, nil
			}
		case err != nil && o.looks != nil:
			o.looks.doubt(e.by)
		}
	}
	if o.looks != nil && o.looks.add(Look{Kind: kind, Name: name, Found: err == nil}) {
		if err != nil {
			return NoAccount, nil
		}
	}
	return id, err
}

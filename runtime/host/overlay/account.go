package overlay

import (
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/host/accounts"
	"github.com/luaccm/ccm/runtime/safepath"
)

// An accountKey identifies a user or a group.
type accountKey struct {
	kind LookKind
	name string
}

// assumeAccount is assume for a user or group.
func (a *assumptions) assumeAccount(x PathEffect, by any, tentative bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := accountKey{x.Account.Kind, x.Account.Name}
	e, old := &entry{PathEffect: x, author: by, tentative: tentative || x.Account.Unsure}, a.accounts[key]
	if own := *x.Account; old != nil && own.ID == NoAccount && !own.Absent && !old.Account.Absent { // the number of an existing account stays
		own.ID, e.Account = old.Account.ID, &own
	}
	e.layOver(old)
	a.accounts[key] = e
	a.authors[by] = true
	if tentative {
		a.doubtful.Store(true)
	}
}

// PendingAccount returns the assumed user or group and the author of the assumption; nil for
// none. Its members are all users that pending resources add to a group.
func PendingAccount(o *View, kind LookKind, name string) (*Account, any) {
	e := accountOf(o, accountKey{kind, name})
	if e == nil {
		return nil, nil
	}
	a, by := *e.Account, e.author
	o.mu.RLock()
	defer o.mu.RUnlock()
	for ; e != nil && !e.Account.Absent; e = counted(o.excluded, e.previous) {
		if e.tentative && o.looks != nil {
			o.looks.doubt(e.author)
		}
		if e.author != by {
			a.Members = slices.Concat(a.Members, e.Account.Members)
		}
	}
	return &a, by
}

// PendingName returns the name of the assumed user or group with a number, "" for none.
func PendingName(o *View, kind LookKind, id uint32) string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	name := ""
	for key, e := range o.accounts {
		if e = counted(o.excluded, e); e != nil && key.kind == kind && e.Account.ID == id && !e.Account.Absent && (name == "" || key.name < name) {
			name = key.name
		}
	}
	return name
}

// accountOf returns the assumed user or group, nil for none.
func accountOf(o *View, key accountKey) *entry {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return counted(o.excluded, o.accounts[key])
}

// Account returns the number of a user or group in a plan. Id and err are the answer of the
// machine.
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
			if own.tentative && (err != nil || a.Members == nil) { // otherwise the account exists in any case
				o.looks.doubt(own.author)
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
			o.looks.doubt(e.author)
		}
	}
	if o.looks != nil && o.looks.add(Look{Kind: kind, Name: name, Found: err == nil}) {
		if err != nil {
			return NoAccount, nil
		}
	}
	return id, err
}

package overlay

import (
	"github.com/luaccm/ccm/runtime/host/accounts"
	"github.com/luaccm/ccm/runtime/safepath"
)

// An accountKey names a user or a group.
type accountKey struct {
	kind LookKind
	name string
}

// assumeAccount is assume for a user or group.
func (o *View) assumeAccount(x Planned, by any, tentative bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := accountKey{x.Account.Kind, x.Account.Name}
	e := &entry{Planned: x, by: by, tentative: tentative}
	e.over(o.accounts[key])
	o.accounts[key] = e
	o.authors[by] = true
	if tentative {
		o.doubtful.Store(true)
	}
}

// accountOf returns what is assumed of a user or group, nil for nothing.
func (o *View) accountOf(key accountKey) *entry {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.counted(o.accounts[key])
}

// Account answers for the number of a user or group in a plan.
func (o *View) Account(d *accounts.Database, name string, id uint32, err error) (uint32, error) {
	e := o.at(d.Path)
	kind := UserLook
	if d.What == "group" {
		kind = GroupLook
	}
	if own := o.accountOf(accountKey{kind, name}); own != nil {
		if o.looks != nil {
			o.looks.add(Look{Kind: kind, Name: name, Found: true})
			if own.tentative {
				o.looks.doubt(own.by)
			}
		}
		if err == nil && own.Account.ID == NoAccount {
			return id, nil
		}
		return own.Account.ID, nil
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

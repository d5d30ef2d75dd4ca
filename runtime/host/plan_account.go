package host

import "github.com/luaccm/ccm/runtime/host/accounts"

// An accountKey names a user or a group.
type accountKey struct {
	kind LookKind
	name string
}

// assumeAccount is assume for a user or group.
func (o *overlay) assumeAccount(x Planned, by any, tentative bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := accountKey{x.Account.Kind, x.Account.Name}
	e := &planEntry{Planned: x, by: by, tentative: tentative}
	e.over(o.accounts[key])
	o.accounts[key] = e
	o.authors[by] = true
	if tentative {
		o.doubtful.Store(true)
	}
}

// accountOf returns what is assumed of a user or group, nil for nothing.
func (o *overlay) accountOf(key accountKey) *planEntry {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.counted(o.accounts[key])
}

// account answers for the number of a user or group in a plan.
func (o *overlay) account(v *View, d *accounts.Database, name string, id uint32, err error) (uint32, error) {
	e := o.at(d.Path)
	kind := UserLook
	if d.What == "group" {
		kind = GroupLook
	}
	if own := o.accountOf(accountKey{kind, name}); own != nil {
		if v.looks != nil {
			v.looks.add(Look{Kind: kind, Name: name, Found: true})
			if own.tentative {
				v.looks.doubt(own.by)
			}
		}
		if err == nil && own.Account.ID == NoAccount {
			return id, nil
		}
		return own.Account.ID, nil
	}
	if e != nil && !e.Kept && e.Kind == Regular {
		switch {
		case e.Content != nil:
			if n, found := accounts.Lookup(*e.Content, name); found {
				return n, nil
			}
		case err != nil && v.looks != nil:
			v.looks.doubt(e.by)
		}
	}
	if v.looks != nil && v.looks.add(Look{Kind: kind, Name: name, Found: err == nil}) {
		if err != nil {
			return NoAccount, nil
		}
	}
	return id, err
}

// NoAccount is the number of a user or group that is not there yet.
const NoAccount = 1<<32 - 2

package overlay

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/accounts"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/safepath"
)

// An accountKey identifies a user or a group.
type accountKey struct {
	kind LookKind
	name string
}

// An accountNumber is the number of a user or group.
type accountNumber struct {
	kind LookKind
	id   uint32
}

// assumeAccount is assume for a user or group.
func (a *assumptions) assumeAccount(x PathEffect, by any, tentative bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := accountKey{x.Account.Kind, x.Account.Name}
	e, old := &entry{PathEffect: x, author: by, tentative: tentative || x.Account.Unsure}, a.accounts[key]
	if own := *x.Account; old != nil && !own.Absent && !old.Account.Absent { // what is not changed stays
		if own.ID == NoAccount {
			own.ID = old.Account.ID
		}
		own.Group, own.Home, e.Account = cmp.Or(own.Group, old.Account.Group), cmp.Or(own.Home, old.Account.Home), &own
	}
	e.layOver(old)
	if a.accounts[key] = e; old == nil {
		a.accountKeys = append(a.accountKeys, key)
	}
	if id := e.Account.ID; id != NoAccount && !slices.Contains(a.numbered[accountNumber{key.kind, id}], key.name) {
		at := accountNumber{key.kind, id}
		a.numbered[at] = append(a.numbered[at], key.name)
	}
	a.accountAuthors[by] = true
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

// placeholder returns the number that stands for an account without one.
func (a *assumptions) placeholder(key accountKey) uint32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.placeholderOf[key]
	if !ok {
		at = min(len(a.placeholders), mostPlaceholders-1)
		a.placeholders = append(a.placeholders[:at], key)
		a.placeholderOf[key] = at
	}
	return firstPlaceholder + uint32(at)
}

// ofPlaceholder returns the account for which a number stands.
func (a *assumptions) ofPlaceholder(id uint32) (key accountKey, ok bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if IsPlaceholder(id) && int(id-firstPlaceholder) < len(a.placeholders) {
		return a.placeholders[id-firstPlaceholder], true
	}
	return key, false
}

// DoubtNumber notes that an account that gets its number when it is made may get a certain one, which no present account
// has. One of a and b is the placeholder of the account; the other one is that number.
func DoubtNumber(o *View, kind LookKind, a, b uint32) {
	key, ok := o.ofPlaceholder(a)
	if !ok {
		key, ok = o.ofPlaceholder(b)
	}
	if e := accountOf(o, key); ok && key.kind == kind && e != nil && o.looks != nil {
		o.looks.doubt(e.author)
	}
}

// Placeholder returns the number of an account that will exist: its own if that is known.
func Placeholder(o *View, a *Account) uint32 {
	if a.ID != NoAccount {
		return a.ID
	}
	return o.placeholder(accountKey{a.Kind, a.Name})
}

// PendingName returns the name of the assumed user or group with a number, which may be a
// placeholder; "" for none.
func PendingName(o *View, kind LookKind, id uint32) string {
	if key, ok := o.ofPlaceholder(id); ok && key.kind == kind {
		return key.name
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	first := ""
	for _, name := range o.numbered[accountNumber{kind, id}] {
		e := counted(o.excluded, o.accounts[accountKey{kind, name}])
		if e != nil && e.Account.ID == id && !e.Account.Absent && (first == "" || name < first) {
			first = name
		}
	}
	return first
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
			return 0, fmt.Errorf("%w (an earlier resource removes the %s)", diag.NotFound(d.Kind, name, nil), d.Kind)
		case a.Absent || a.Unsure || err == nil && a.ID == NoAccount:
			return id, err
		}
		return Placeholder(o, a), nil
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
			return o.placeholder(accountKey{kind, name}), nil
		}
	}
	return id, err
}

// accountFiles are the files with the entries of users and groups. A pending account changes them,
// and these lines are all that it changes in them.
var accountFiles = []string{"/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/subuid", "/etc/subgid"}

// HoldsAccounts reports whether a path is a file with the entries of users and groups, or a copy or
// lock of one that the commands make. With tree, it may also be a directory with such files.
func HoldsAccounts(name string, tree bool) bool {
	return slices.ContainsFunc(accountFiles, func(file string) bool {
		rest, ok := strings.CutPrefix(name, file)
		return ok && slices.Contains([]string{"", "-", "+", ".lock"}, rest) || tree && (name == "/" || strings.HasPrefix(file, name+"/"))
	}) || name == "/etc/.pwd.lock"
}

// AccountAuthors returns the authors of the assumed users and groups, at most [MostCreators] or so.
func AccountAuthors(o *View) []any {
	if o == nil {
		return nil
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.authorsOf(o.accountKeys, func(*Account) bool { return true })
}

// ChangesAccounts reports whether an author changes a user or group.
func ChangesAccounts(o *View, by any) bool {
	if o == nil {
		return false
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.accountAuthors[by] && !o.excluded[by]
}

// authorsOf returns the authors of the assumed users and groups of the keys that fit, also of earlier assumptions about
// these, until there are MostCreators. The lock is held.
func (o *View) authorsOf(keys []accountKey, fits func(*Account) bool) (list []any) {
	for _, key := range keys {
		for e := counted(o.excluded, o.accounts[key]); e != nil; e = counted(o.excluded, e.previous) {
			if fits(e.Account) {
				list = append(list, e.author)
			}
		}
		if len(list) >= MostCreators {
			break
		}
	}
	return list
}

// accountReporters are programs and options that report on users and groups without naming them.
var accountReporters = []string{
	"getent", "id", "groups", "whoami", "logname", "who", "w", "users", "last", "lastlog", "lslogins", "finger", "members", "pwck", "grpck",
	"-nouser", "-nogroup",
}

// doubtAccounts records the pending users and groups that a command asks about.
func doubtAccounts(o *View, c command.Cmd, text string, paths []string) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if len(o.accounts) == 0 {
		return
	}
	if kind, keys, ok := getentQuestion(c.Argv); ok {
		o.looks.doubt(o.authorsOf(o.accountKeys, func(a *Account) bool {
			return a.Kind == kind && (len(keys) == 0 || slices.ContainsFunc(keys, func(key string) bool {
				n, err := strconv.ParseUint(key, 10, 32)
				return key == a.Name || err == nil && (a.ID == NoAccount || a.ID == uint32(n))
			}))
		})...)
		return
	}
	words := strings.FieldsFunc(pathText().ReplaceAllString(text, " "), func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r))
	})
	words = append(words, path.Base(c.Argv[0]))
	keys := o.accountKeys
	if !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(accountReporters, w) }) &&
		!slices.ContainsFunc(paths, func(p string) bool { return HoldsAccounts(p, true) }) {
		keys = nil
		for _, w := range words {
			keys = append(keys, accountKey{UserLook, w}, accountKey{GroupLook, w})
		}
	}
	o.looks.doubt(o.authorsOf(keys, func(*Account) bool { return true })...)
}

// getentQuestion returns what a call of getent(1) asks about: users or groups, and their names or
// numbers; no keys mean all of them.
func getentQuestion(argv []string) (kind LookKind, keys []string, ok bool) {
	if path.Base(argv[0]) != "getent" || len(argv) < 2 {
		return 0, nil, false
	}
	switch argv[1] {
	case "passwd", "shadow":
		return UserLook, argv[2:], true
	case "group", "gshadow":
		return GroupLook, argv[2:], true
	}
	return 0, nil, false
}

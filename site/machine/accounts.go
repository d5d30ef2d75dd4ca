package machine

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/safepath"
)

// The numbers of accounts: those below firstDynamic are of the base system, those from firstPerson to lastPerson of people.
const firstDynamic, firstPerson, lastPerson = 100, 1000, 59999

// An account is a line of /etc/passwd.
type account struct {
	name, home string
	uid, gid   int
}

// isPerson reports whether a number is one for people.
func isPerson(id int) bool { return id >= firstPerson && id <= lastPerson }

// accountName matches the names of accounts that ccm can manage.
var accountName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?$`)

// accounts adds users and groups that no package has made, and the keys of users.
func (r *reader) accounts() {
	var users []account
	for line := range strings.Lines(r.text("/etc/passwd")) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(f) != 7 || !accountName().MatchString(f[0]) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != '+' && line[0] != '-' {
				r.leave("/etc/passwd", "a line is not valid")
			}
			continue
		}
		uid, err := strconv.Atoi(f[2])
		gid, err2 := strconv.Atoi(f[3])
		if err == nil && err2 == nil {
			users = append(users, account{f[0], f[5], uid, gid})
		}
	}
	made := r.packageAccounts()
	primary, members := map[int]bool{}, map[string]bool{}
	isOurs := func(name string, id int) bool {
		return isPerson(id) || id >= firstDynamic && id < firstPerson && !made(name)
	}
	for _, u := range users {
		if isOurs(u.name, u.uid) {
			primary[u.gid], members[u.name] = true, true
		}
	}
	for line := range strings.Lines(r.text("/etc/group")) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(f) != 4 || !accountName().MatchString(f[0]) {
			continue
		}
		gid, err := strconv.Atoi(f[2])
		if err != nil || !isOurs(f[0], gid) && (!primary[gid] || gid < firstDynamic) {
			continue
		}
		var others []string
		for m := range strings.SplitSeq(f[3], ",") {
			if m != "" && !members[m] {
				others = append(others, m)
			}
		}
		r.add(Item{Kind: Group, Name: f[0], Reason: "no package made it", Value: strings.Join(others, ",")})
	}
	for _, u := range users {
		if isOurs(u.name, u.uid) {
			r.add(Item{Kind: User, Name: u.name, Path: u.home, Reason: "no package made it", Value: strings.Join(r.groupsOf(u), ",")})
		}
		if isOurs(u.name, u.uid) || u.uid == 0 {
			r.keys(u)
			r.userUnits(u)
		}
	}
	r.crontabs()
}

// groupsOf returns the supplementary groups of a user.
func (r *reader) groupsOf(u account) (names []string) {
	for line := range strings.Lines(r.text("/etc/group")) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(f) == 4 && f[2] != strconv.Itoa(u.gid) && accountName().MatchString(f[0]) && slices.Contains(strings.Split(f[3], ","), u.name) {
			names = append(names, f[0])
		}
	}
	return names
}

// packageAccounts returns a function that reports whether the scripts of packages make an account of that name.
func (r *reader) packageAccounts() func(name string) bool {
	var text string
	read := false
	return func(name string) bool {
		if !read {
			read = true
			text = r.db.scripts()
			for _, dir := range []string{"/usr/lib/sysusers.d", "/lib/sysusers.d"} {
				for _, file := range r.names(dir) {
					text += "\n" + r.text(dir+"/"+file)
				}
			}
		}
		return regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(name) + `($|[^\w.-])`).MatchString(text)
	}
}

// keys adds the authorized keys of a user.
func (r *reader) keys(u account) {
	if !strings.HasPrefix(u.home, "/") {
		return
	}
	name := strings.TrimSuffix(u.home, "/") + "/.ssh/authorized_keys"
	text, err := r.v.ReadText(name, largestFile)
	if err != nil {
		if !errors.Is(err, syscall.ENOTDIR) { // the home may be /dev/null
			r.cannot(name, err)
		}
		return
	}
	info, _ := r.v.Lstat(name)
	for _, line := range settings(text) {
		k, ok := parseKey(line)
		if !ok {
			r.leave(name, "a line is not an ssh key")
			continue
		}
		r.add(Item{Kind: AuthorizedKey, Name: u.name, Path: name, Value: k.key, Changed: info.MTime, Reason: "in " + name})
	}
}

// A sshKey is a line of authorized_keys.
type sshKey struct {
	options []string
	key     string // type and key, without the comment
	comment string
}

// keyForm matches the key of a line of authorized_keys: a type and base64.
var keyForm = lazyregexp.New(`(?:^|\s)((?:ssh-[a-z0-9-]+|ecdsa-[a-z0-9-]+|sk-[a-z0-9@.-]+)\s+AAAA[A-Za-z0-9+/]+={0,3})(?:\s+(.*))?$`)

// parseKey parses a line of authorized_keys. The options are split at commas outside of quotes.
func parseKey(line string) (k sshKey, ok bool) {
	m := keyForm().FindStringSubmatchIndex(line)
	if m == nil {
		return k, false
	}
	k.key = strings.Join(strings.Fields(line[m[2]:m[3]]), " ")
	if m[4] >= 0 {
		k.comment = strings.TrimSpace(line[m[4]:m[5]])
	}
	options, quoted, from := strings.TrimSpace(line[:m[2]]), false, 0
	for i := 0; i < len(options); i++ {
		switch {
		case options[i] == '\\' && quoted:
			i++
		case options[i] == '"':
			quoted = !quoted
		case options[i] == ',' && !quoted:
			k.options, from = append(k.options, options[from:i]), i+1
		}
	}
	if options != "" {
		k.options = append(k.options, options[from:])
	}
	return k, !quoted
}

// userUnits adds the units of a user.
func (r *reader) userUnits(u account) {
	if !strings.HasPrefix(u.home, "/") || u.home == "/" {
		return
	}
	dir := strings.TrimSuffix(u.home, "/") + "/.config/systemd/user"
	for _, name := range r.names(dir) {
		at := dir + "/" + name
		if info, err := r.v.Lstat(at); err == nil && info.Kind == safepath.Regular && isUnit(name) && info.Size <= largestFile {
			for _, parent := range []string{".config", ".config/systemd", ".config/systemd/user"} {
				if p := strings.TrimSuffix(u.home, "/") + "/" + parent; !slices.ContainsFunc(r.scan.Items, func(i Item) bool { return i.Path == p }) {
					r.add(Item{Kind: Directory, Name: p, Path: p, Reason: "directory of user units"})
				}
			}
			r.add(Item{Kind: File, Name: at, Path: at, Changed: info.MTime, Size: info.Size, Reason: "unit of user " + u.name})
		}
	}
}

// crontabs adds the crontabs of users. Those of Alpine are in /etc, where their directory is a link to.
func (r *reader) crontabs() {
	dir := "/var/spool/cron/crontabs"
	switch info, err := r.v.Lstat(dir); {
	case err != nil:
		return
	case info.Kind == safepath.Symlink:
		return
	case info.Kind == safepath.Missing:
		dir = "/var/spool/cron"
	}
	var above []string // the directories that no package makes
	if r.db.packageOf(dir+"/") == "" {
		above = slices.Compact([]string{"/var/spool/cron", dir})
	}
	for _, name := range r.names(dir) {
		at := dir + "/" + name
		info, err := r.v.Lstat(at)
		if err == nil && info.Kind == safepath.Regular && info.Size <= largestFile {
			for _, at := range above {
				r.add(Item{Kind: Directory, Name: at, Path: at, Reason: "no package owns it"})
			}
			above = nil
			r.add(Item{Kind: File, Name: at, Path: at, Package: r.db.packageOf(at), Changed: info.MTime, Size: info.Size, Reason: "crontab of " + name})
		}
	}
}

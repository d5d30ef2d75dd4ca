package stdlib_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/host"
)

// accounts simulates the parts of shadow-utils that the types use: the commands change the files below --prefix, and
// refuse what the real ones refuse.
type accounts struct{ root string }

// An account has the options and the name given to a command.
type account struct {
	flags map[string]string
	name  string
}

// valued are the options with a value.
var valued = []string{"--prefix", "--root", "--uid", "--gid", "--comment", "--shell", "--groups", "--home-dir", "--home", "--key"}

func parse(argv []string) (a account, err error) {
	a.flags = make(map[string]string)
	for i := 1; i < len(argv); i++ {
		switch arg := argv[i]; {
		case slices.Contains(valued, arg):
			i++
			a.flags[arg] = argv[i]
		case strings.HasPrefix(arg, "--"):
			a.flags[arg] = "yes"
		case a.name != "":
			return a, fmt.Errorf("%q: two names", argv)
		default:
			a.name = arg
		}
	}
	return a, nil
}

func isDir(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.IsDir()
}

// Run implements host.Runner.
func (m accounts) Run(_ context.Context, c host.Cmd) (host.Result, error) {
	switch c.Argv[0] {
	case "cp": // cp -a -- SKEL/. HOME
		return host.Result{}, os.CopyFS(c.Argv[4], os.DirFS(c.Argv[3]))
	case "chown": // chown -R -h UID:GID -- HOME, which needs root
		_, err := os.Stat(c.Argv[5])
		return host.Result{}, err
	}
	if c.Argv[0] == "gpasswd" {
		return host.Result{}, m.member(c)
	}
	if c.Argv[0] == "chgpasswd" {
		name, hash, _ := strings.Cut(strings.TrimSuffix(string(c.Stdin), "\n"), ":")
		if !slices.Equal(c.Argv[1:], []string{"--root", m.root, "--encrypted"}) {
			return host.Result{}, fmt.Errorf("%s: expected --root %s --encrypted", c, m.root)
		}
		return host.Result{}, m.shadowGroup(name, func(g []string) { g[1] = hash })
	}
	if c.Argv[0] == "chage" {
		return host.Result{}, m.age(c)
	}
	if c.Argv[0] == "chpasswd" {
		name, hash, ok := strings.Cut(strings.TrimSuffix(string(c.Stdin), "\n"), ":")
		if !ok || !slices.Equal(c.Argv[1:], []string{"--encrypted", "--root", m.root}) || find(m.read("passwd"), name) == nil {
			return host.Result{}, fmt.Errorf("%s: expected a user and a password on the standard input", c)
		}
		m.password(name, hash)
		return host.Result{}, nil
	}
	a, err := parse(c.Argv)
	place := "--prefix"
	if _, ok := a.flags["--gid"]; ok && c.Argv[0] == "usermod" { // it looks up the group of --gid outside of the prefix
		place = "--root"
	}
	if err != nil || a.flags[place] != m.root {
		return host.Result{}, fmt.Errorf("%s: expected %s %s: %v", c, place, m.root, err)
	}
	users, groups := m.read("passwd"), m.read("group")
	refuse := func(code int, format string, args ...any) (host.Result, error) {
		return host.Result{Code: code, Stderr: []byte(c.Argv[0] + ": " + fmt.Sprintf(format, args...))}, nil
	}
	user, group := find(users, a.name), find(groups, a.name)
	switch c.Argv[0] {
	case "groupadd":
		if group != nil {
			return refuse(9, "group '%s' already exists", a.name)
		}
		groups = append(groups, []string{a.name, "x", or(a.flags["--gid"], "1500"), ""})
		if _, err := os.Stat(filepath.Join(m.root, "etc/gshadow")); err == nil {
			m.write("gshadow", append(m.read("gshadow"), []string{a.name, "!", "", ""}))
		}
	case "groupmod":
		group[2] = a.flags["--gid"]
	case "groupdel":
		groups = slices.DeleteFunc(groups, func(g []string) bool { return g[0] == a.name })
	case "useradd":
		if user != nil {
			return refuse(9, "user '%s' already exists", a.name)
		}
		gid := ""
		switch g := find(groups, a.flags["--gid"]); {
		case a.flags["--user-group"] != "":
			if group != nil {
				return refuse(9, "group %s exists", a.name)
			}
			groups, gid = append(groups, []string{a.name, "x", "1501", ""}), "1501"
		case g == nil:
			return refuse(6, "group '%s' does not exist", a.flags["--gid"])
		default:
			gid = g[2]
		}
		users = append(users, []string{a.name, "x", or(a.flags["--uid"], "1500"), gid, a.flags["--comment"], or(a.flags["--home-dir"], "/home/"+a.name), or(a.flags["--shell"], "/bin/sh")})
		m.password(a.name, "!")
		for _, file := range []string{"subuid", "subgid"} {
			key := map[string]string{"subuid": "SUB_UID_COUNT=0", "subgid": "SUB_GID_COUNT=0"}[file]
			if _, err := os.Stat(filepath.Join(m.root, "etc", file)); err == nil && !slices.Contains(c.Argv, key) {
				m.write(file, append(m.read(file), []string{a.name, "100000", "65536"}))
				m.write(file+"-", nil)
			}
		}
		if a.flags["--create-home"] != "" { // like older versions, it makes no directories above the home
			mode := os.FileMode(0o755)
			if _, err := os.Stat(filepath.Join(m.root, "etc/login.defs")); err == nil {
				mode = 0o750 // those of tests have UMASK 027
			}
			if err := os.Mkdir(filepath.Join(m.root, users[len(users)-1][5]), mode); err != nil {
				return refuse(12, "cannot create directory: %v", err)
			}
			if skel := filepath.Join(m.root, "etc/skel"); isDir(skel) {
				if err := os.CopyFS(filepath.Join(m.root, users[len(users)-1][5]), os.DirFS(skel)); err != nil {
					return host.Result{}, err
				}
			}
		}
		if !m.join(groups, a) {
			return refuse(6, "group does not exist")
		}
	case "usermod":
		if user == nil {
			return refuse(6, "user '%s' does not exist", a.name)
		}
		home := user[5]
		for flag, field := range map[string]int{"--uid": 2, "--comment": 4, "--home": 5, "--shell": 6} {
			if v, ok := a.flags[flag]; ok {
				user[field] = v
			}
		}
		if name, ok := a.flags["--gid"]; ok {
			g := find(groups, name)
			if g == nil {
				return refuse(6, "group '%s' does not exist", name)
			}
			user[3] = g[2]
		}
		if !m.join(groups, a) {
			return refuse(6, "group does not exist")
		}
		if a.flags["--lock"] != "" || a.flags["--unlock"] != "" {
			hash := strings.TrimLeft(find(m.read("shadow"), a.name)[1], "!")
			if a.flags["--unlock"] != "" && hash == "" {
				return refuse(3, "unlocking the user's password would result in a passwordless account")
			}
			if a.flags["--lock"] != "" {
				hash = "!" + hash
			}
			m.password(a.name, hash)
		}
		if a.flags["--move-home"] != "" {
			m.write("passwd", users) // before it moves
			if err := os.Rename(filepath.Join(m.root, home), filepath.Join(m.root, user[5])); err != nil {
				return refuse(12, "cannot rename directory: %v", err)
			}
		}
	case "userdel":
		if a.flags["--remove"] != "" && user != nil {
			_ = os.RemoveAll(filepath.Join(m.root, user[5]))
		}
		users = slices.DeleteFunc(users, func(u []string) bool { return u[0] == a.name })
		for _, g := range groups {
			g[3] = strings.Join(slices.DeleteFunc(members(g), func(n string) bool { return n == a.name }), ",")
		}
	default:
		return host.Result{}, fmt.Errorf("no command %s", c)
	}
	m.write("passwd", users)
	m.write("group", groups)
	return host.Result{}, nil
}

// age simulates chage, which has --root and not --prefix.
func (m accounts) age(c host.Cmd) error {
	fields, list := map[string]int{"--mindays": 3, "--maxdays": 4, "--warndays": 5, "--inactive": 6, "--expiredate": 7, "--lastday": 2}, m.read("shadow")
	user := find(list, c.Argv[len(c.Argv)-1])
	if user == nil || c.Argv[1] != "--root" || c.Argv[2] != m.root {
		return fmt.Errorf("%s: expected --root %s and a user", c, m.root)
	}
	for i := 3; i < len(c.Argv)-1; i += 2 {
		value := c.Argv[i+1]
		if day, err := time.Parse(time.DateOnly, value); err == nil {
			value = fmt.Sprint(day.Unix() / 86400)
		}
		user[fields[c.Argv[i]]] = strings.TrimPrefix(value, "-1")
	}
	m.write("shadow", list)
	return nil
}

// shadowGroup changes the entry of a group in /etc/gshadow.
func (m accounts) shadowGroup(name string, change func([]string)) error {
	list := m.read("gshadow")
	g := find(list, name)
	if g == nil {
		return fmt.Errorf("no group %s in /etc/gshadow", name)
	}
	change(g)
	m.write("gshadow", list)
	return nil
}

// member simulates gpasswd, which takes out users who are nowhere, and replaces administrators by users who exist.
func (m accounts) member(c host.Cmd) error {
	groups := m.read("group")
	if len(c.Argv) == 6 && c.Argv[1] == "--root" && c.Argv[2] == m.root && c.Argv[3] == "--administrators" {
		for _, name := range strings.FieldsFunc(c.Argv[4], func(r rune) bool { return r == ',' }) {
			if find(m.read("passwd"), name) == nil {
				return fmt.Errorf("%s: user '%s' does not exist", c, name)
			}
		}
		return m.shadowGroup(c.Argv[5], func(g []string) { g[2] = c.Argv[4] })
	}
	if len(c.Argv) != 6 || c.Argv[1] != "--root" || c.Argv[2] != m.root || c.Argv[3] != "--delete" || find(groups, c.Argv[5]) == nil {
		return fmt.Errorf("%s: expected --root %s --delete, a user and a group", c, m.root)
	}
	g := find(groups, c.Argv[5])
	g[3] = strings.Join(slices.DeleteFunc(members(g), func(n string) bool { return n == c.Argv[4] }), ",")
	m.write("group", groups)
	return nil
}

// join adds the user to the groups in --groups, and without --append removes it from all others.
func (m accounts) join(groups [][]string, a account) bool {
	list, ok := a.flags["--groups"]
	if !ok {
		return true
	}
	want := strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
	for _, name := range want {
		if find(groups, name) == nil {
			return false
		}
	}
	for _, g := range groups {
		is, wanted := slices.Contains(members(g), a.name), slices.Contains(want, g[0])
		switch {
		case wanted && !is:
			g[3] = strings.Join(append(members(g), a.name), ",")
		case is && !wanted && a.flags["--append"] == "":
			g[3] = strings.Join(slices.DeleteFunc(members(g), func(n string) bool { return n == a.name }), ",")
		}
	}
	return true
}

func members(g []string) []string {
	return strings.FieldsFunc(g[3], func(r rune) bool { return r == ',' })
}

func (m accounts) password(name, hash string) {
	list := slices.DeleteFunc(m.read("shadow"), func(f []string) bool { return f[0] == name })
	m.write("shadow", append(list, []string{name, hash, "", "", "", "", "", "", ""}))
}

func (m accounts) read(file string) (list [][]string) {
	text, _ := os.ReadFile(filepath.Join(m.root, "etc", file))
	for line := range strings.Lines(string(text)) {
		list = append(list, strings.Split(strings.TrimSuffix(line, "\n"), ":"))
	}
	return list
}

func (m accounts) write(file string, list [][]string) {
	var b strings.Builder
	for _, fields := range list {
		b.WriteString(strings.Join(fields, ":") + "\n")
	}
	_ = os.WriteFile(filepath.Join(m.root, "etc", file), []byte(b.String()), 0o644)
}

func find(list [][]string, name string) []string {
	for _, fields := range list {
		if fields[0] == name {
			return fields
		}
	}
	return nil
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

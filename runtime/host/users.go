package host

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/safepath"
)

// accounts turns names of users and groups into numbers and back. The files
// are read once, and again when something is not found in them that may have
// been added since. On the machine itself, names that are not in the files are
// asked of getent, which knows LDAP and the like.
type accounts struct {
	passwd, group *database
}

func newAccounts(m *machine) *accounts {
	// Names are what is looked for here, so errors have numbers.
	files := &safepath.Resolver{Root: m.root, UserName: safepath.UserNumber}
	return &accounts{
		passwd: &database{m: m, files: files, path: "/etc/passwd", name: "passwd", what: "user"},
		group:  &database{m: m, files: files, path: "/etc/group", name: "group", what: "group"},
	}
}

// database is /etc/passwd or /etc/group (passwd(5), group(5)): the name is the
// first field, the number the third.
type database struct {
	m                *machine
	files            *safepath.Resolver
	path, name, what string

	// last is what was asked for last: mostly the same is asked for again.
	last atomic.Pointer[account]

	mu     sync.Mutex
	stamp  string
	byName map[string]uint32
	byID   map[uint32]string
}

// An account is a name and its number.
type account struct {
	name string
	id   uint32
}

// Self returns the user and the group of this process.
func Self() (uid, gid uint32) { return safepath.Self() }

// UserID returns the number of a user, given by name or number.
func (v *View) UserID(user string) (uint32, error) { return v.account(v.users.passwd, user) }

// GroupID returns the number of a group, given by name or number.
func (v *View) GroupID(group string) (uint32, error) { return v.account(v.users.group, group) }

func (v *View) account(d *database, name string) (uint32, error) {
	id, err := d.id(name)
	if o := v.planned(); o != nil {
		return o.account(v, d, name, id, err)
	}
	return id, err
}

// UserName returns the name of a user, or the number as text if it has none.
func (v *View) UserName(uid uint32) string { return v.users.passwd.nameOf(uid) }

// GroupName returns the name of a group, or the number as text if it has none.
func (v *View) GroupName(gid uint32) string { return v.users.group.nameOf(gid) }

func (d *database) id(name string) (uint32, error) {
	if a := d.last.Load(); a != nil && a.name == name {
		return a.id, nil
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' { // an error would take longer than all the rest
		if n, err := strconv.ParseUint(name, 10, 32); err == nil {
			return uint32(n), nil
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	id, ok := d.byName[name]
	if !ok {
		if err := d.read(); err != nil {
			return 0, err
		}
		if id, ok = d.byName[name]; !ok {
			d.ask(name)
			id, ok = d.byName[name]
		}
	}
	if !ok {
		return 0, fmt.Errorf("could not lookup %s %q: no such %s", d.what, name, d.what)
	}
	d.last.Store(&account{name, id})
	return id, nil
}

func (d *database) nameOf(id uint32) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name, ok := d.byID[id]; ok {
		return name
	}
	if d.read() == nil {
		if name, ok := d.byID[id]; ok {
			return name
		}
	}
	num := strconv.FormatUint(uint64(id), 10)
	d.ask(num)
	if name, ok := d.byID[id]; ok {
		return name
	}
	if d.byID != nil {
		d.byID[id] = num
	}
	return num
}

// read reads the file if it has changed since it was read last.
func (d *database) read() error {
	f, fi, err := d.files.OpenRegular(d.path)
	if errors.Is(err, os.ErrNotExist) && d.m.root != "/" {
		// A directory that is no system has the users of this machine.
		f, fi, err = (&safepath.Resolver{Root: "/", UserName: safepath.UserNumber}).OpenRegular(d.path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	stamp := fmt.Sprint(fi.Sys().(*syscall.Stat_t).Ino, fi.ModTime().UnixNano(), fi.Size())
	if stamp == d.stamp {
		return f.Close()
	}
	d.last.Store(nil)
	text, err := safepath.ReadOpened(f, fi, d.path, safepath.LargestText)
	if err != nil {
		return err
	}
	d.stamp, d.byName, d.byID = stamp, make(map[string]uint32), make(map[uint32]string)
	d.parse(text)
	return nil
}

func (d *database) parse(text []byte) {
	if d.byName == nil {
		d.byName, d.byID = make(map[string]uint32), make(map[uint32]string)
	}
	for sc := bufio.NewScanner(bytes.NewReader(text)); sc.Scan(); {
		fields := strings.SplitN(sc.Text(), ":", 4)
		if len(fields) < 4 {
			continue
		}
		n, err := strconv.ParseUint(fields[2], 10, 32)
		if err != nil {
			continue
		}
		if _, ok := d.byName[fields[0]]; !ok {
			d.byName[fields[0]] = uint32(n)
		}
		if _, ok := d.byID[uint32(n)]; !ok {
			d.byID[uint32(n)] = fields[0]
		}
	}
}

// ask asks getent, which knows what the files do not.
func (d *database) ask(key string) {
	if d.m.root != "/" {
		return
	}
	getent, err := exec.LookPath("getent")
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := Cmd{Argv: []string{getent, d.name, key}}
	if d.m.refused(cmd) != nil {
		return // everybody could read it then
	}
	res, err := d.m.runner.Run(ctx, cmd)
	if err == nil && res.Code == 0 {
		d.parse(res.Stdout)
	}
}

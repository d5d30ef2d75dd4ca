// Package accounts translates names of users and groups into numbers and back.
package accounts

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

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Accounts are the users and groups of a machine. Their files are read once, and again when
// something is not found that may have been added since. With root /, other names are looked up
// by getent, which knows LDAP and the like.
type Accounts struct {
	Users, Groups *Database
}

// New returns the users and groups below a root directory. Query runs getent and reports whether
// it found the account.
func New(root string, query func(ctx context.Context, argv []string) (out []byte, ok bool)) *Accounts {
	// Errors must not look up names, so they have numbers.
	files := &safepath.Resolver{Root: root, UserName: safepath.UserNumber}
	return &Accounts{
		Users:  &Database{files: files, query: query, Path: "/etc/passwd", name: "passwd", Kind: "user"},
		Groups: &Database{files: files, query: query, Path: "/etc/group", name: "group", Kind: "group"},
	}
}

// A Database is /etc/passwd or /etc/group (passwd(5), group(5)): the name is the
// first field, the number the third.
type Database struct {
	files *safepath.Resolver
	query func(ctx context.Context, argv []string) (out []byte, ok bool)
	Path  string
	name  string // for getent
	Kind  string // "user" or "group"

	// last is the latest answer: callers mostly ask for the same account again.
	last atomic.Pointer[account]

	mu     sync.Mutex
	stamp  string
	byName map[string]uint32
	byID   map[uint32]string
}

// ID returns the number of a name, or of a text that is a number.
func (d *Database) ID(name string) (uint32, error) {
	if a := d.last.Load(); a != nil && a.name == name {
		return a.id, nil
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' { // an error of ParseUint would take longer than all the rest
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
		return 0, diag.NotFound(d.Kind, name, nil)
	}
	d.last.Store(&account{name, id})
	return id, nil
}

// NameOf returns the name of a number, or the number as text if it has none.
func (d *Database) NameOf(id uint32) string {
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

func (d *Database) open() (*os.File, os.FileInfo, error) {
	f, fi, err := d.files.OpenRegular(d.Path)
	if errors.Is(err, os.ErrNotExist) && d.files.Root != "/" {
		// A directory that holds no system has the users of this machine.
		return (&safepath.Resolver{Root: "/", UserName: safepath.UserNumber}).OpenRegular(d.Path)
	}
	return f, fi, err
}

// read reads the file if it changed since the last read.
func (d *Database) read() error {
	f, fi, err := d.open()
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
	text, err := safepath.ReadOpened(f, fi, d.Path, safepath.LargestText)
	if err != nil {
		return err
	}
	d.stamp, d.byName, d.byID = stamp, make(map[string]uint32), make(map[uint32]string)
	d.parse(text)
	return nil
}

func (d *Database) parse(text []byte) {
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

// ask asks getent for an account that is not in the files.
func (d *Database) ask(key string) {
	if out, ok := d.getent(key); ok {
		d.parse(out)
	}
}

// getent returns the entry of a name or number from getent(1).
func (d *Database) getent(key string) (out []byte, ok bool) {
	if d.files.Root != "/" {
		return nil, false
	}
	getent, err := exec.LookPath("getent")
	if err != nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return d.query(ctx, []string{getent, d.name, key})
}

// An account is a name and its number.
type account struct {
	name string
	id   uint32
}

// Lookup returns the number of a name in a text in the form of the database.
func Lookup(text, name string) (id uint32, ok bool) {
	var d Database
	d.parse([]byte(text))
	id, ok = d.byName[name]
	return id, ok
}

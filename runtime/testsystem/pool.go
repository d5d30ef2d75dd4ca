package testsystem

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/atomicfile"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filelock"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// A Pool has the systems of a user on this machine. Each has a folder with its record, and a lock that its process
// holds: the kernel releases it when the process ends, however it ends. So the next process knows what is left over.
type Pool struct {
	// Dir has the images and the records.
	Dir     string
	Drivers []Driver
	// Log takes the output of programs that make an image; may be nil.
	Log io.Writer
	// Oldest is when a cached image or package must have been made at the earliest. Older ones are made again.
	Oldest time.Time
	// Making is called before an image is made, which takes minutes; may be nil.
	Making func(Target)

	packages func() (*packageCache, error)
}

// NewPool returns the pool in a folder.
func NewPool(dir string, drivers []Driver) *Pool {
	p := &Pool{Dir: dir, Drivers: drivers}
	p.packages = sync.OnceValues(func() (*packageCache, error) {
		return newPackageCache(filepath.Join(p.Dir, "packages"), p.Oldest)
	})
	return p
}

// Lifetime is how long cached images and packages are used.
const Lifetime = 30 * 24 * time.Hour

// Drivers returns all drivers, in the order in which they are tried.
func Drivers() []Driver {
	return []Driver{
		nspawn{}, container{"podman"}, container{"docker"}, instances{incusName, "incus"}, instances{lxdName, "lxc"},
		qemu{}, rootDriver{}, sshDriver{},
	}
}

// A Record is what is stored of a system, so that another process can find it.
type Record struct {
	// Name is the name of the system, as in debian-12-3f9a1c.
	Name   string `json:"name"`
	Driver string `json:"driver"`
	Target Target `json:"target"`
	// Kept means that the system outlives the process that made it.
	Kept bool `json:"kept,omitempty"`
	// Data is what the driver knows of the system.
	Data map[string]string `json:"data,omitempty"`
	// ImageTime is when the image of the system was made, zero if ccm did not make it.
	ImageTime time.Time `json:"image_made,omitzero"`

	pool *Pool
	lock *os.File
}

// dir is the folder of the system.
func (r *Record) dir() string { return filepath.Join(r.pool.Dir, "run", r.Name) }

// hostName is the name of the machine that the system is.
func (r *Record) hostName() string { return r.Name[:strings.LastIndexByte(r.Name, '-')] }

// making announces that the image of the system is made.
func (r *Record) making() {
	if r.pool.Making != nil {
		r.pool.Making(r.Target)
	}
}

// set stores a value of the driver.
func (r *Record) set(key, value string) error {
	if r.Data == nil {
		r.Data = make(map[string]string)
	}
	r.Data[key] = value
	return r.save()
}

func (r *Record) save() error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	name := filepath.Join(r.dir(), "system.json")
	return atomicfile.Write(name, atomicfile.Options{}, atomicfile.Text(append(text, '\n')))
}

// lockFile opens a file and locks it.
func lockFile(name string, lock func(*os.File, filelock.Kind) error) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f, filelock.Exclusive); err != nil {
		f.Close()
		if errors.Is(err, filelock.ErrLocked) {
			return nil, err
		}
		return nil, diag.Cannot("lock", name, err)
	}
	return f, nil
}

// take locks the folder of a system. The lock is next to the folder, and stays: it is empty, and names do not recur.
func (p *Pool) take(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Join(p.Dir, "run"), 0o700); err != nil {
		return nil, err
	}
	return lockFile(filepath.Join(p.Dir, "run", "."+name+".lock"), filelock.TryLock)
}

// release removes the folder and the lock of a system.
func (r *Record) release() error {
	err := os.RemoveAll(r.dir())
	if err == nil {
		err = os.Remove(r.lock.Name())
	}
	return errors.Join(err, filelock.Close(r.lock))
}

// notInName matches what the name of a system does not have.
var notInName = lazyregexp.New(`[^a-z0-9]+`)

// nameOf returns a name for a system: also a host name, so it is short.
func nameOf(t Target) (string, error) {
	text := t.Name
	if _, path, ok := strings.Cut(text, ":"); ok && path == t.Arg {
		text = filepath.Base(path)
	}
	slug := strings.Trim(notInName().ReplaceAllString(strings.ToLower(text), "-"), "-")
	slug = strings.Trim(slug[:min(len(slug), 24)], "-")
	var random [3]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return cmp.Or(slug, "system") + "-" + hex.EncodeToString(random[:]), nil
}

// ownSystem reports whether a driver makes no system of a distribution, only those of the user.
func ownSystem(driver string) bool {
	return slices.Contains([]string{qemuName, rootName, sshName}, driver)
}

// DriverFor returns the driver for a target: the one that the target or the user names, or else the first that works.
func (p *Pool) DriverFor(t Target, wanted string) (Driver, error) {
	var names []string
	for _, d := range p.Drivers {
		names = append(names, d.Name())
	}
	if t.Driver != "" {
		if wanted != "" && wanted != t.Driver {
			return nil, diag.Requires(t.Name, "the driver %s", t.Driver)
		}
		wanted = t.Driver
	}
	if wanted != "" {
		i := slices.Index(names, wanted)
		if i < 0 {
			return nil, unknown("driver", wanted, names, strings.Join(names, ", "))
		}
		if t.Driver == "" && ownSystem(wanted) {
			return nil, diag.At(diag.Pos{}, diag.SubjectCannot("the driver "+wanted, "make %s", t.Name)).
				WithHint("name a system of your own: --system %s:...", wanted)
		}
		return p.Drivers[i], p.Drivers[i].Check()
	}
	var reasons []string
	for _, d := range p.Drivers {
		if ownSystem(d.Name()) {
			continue
		}
		err := d.Check()
		if err == nil {
			return d, nil
		}
		reasons = append(reasons, d.Name()+": "+err.Error())
	}
	return nil, diag.None("driver for %s works here: %s", t.Name, strings.Join(reasons, "; "))
}

// Start makes a system. The record is that of the system until [Pool.End].
func (p *Pool) Start(ctx context.Context, t Target, d Driver) (System, *Record, error) {
	name, err := nameOf(t)
	if err != nil {
		return nil, nil, err
	}
	r := &Record{Name: name, Driver: d.Name(), Target: t, pool: p}
	if r.lock, err = p.take(name); err != nil {
		return nil, nil, err
	}
	if err = os.Mkdir(r.dir(), 0o700); err == nil {
		err = r.save()
	}
	var s System
	if err == nil {
		s, err = d.Make(ctx, r)
	}
	if err != nil {
		return nil, nil, errors.Join(err, d.Reclaim(r), r.release())
	}
	return s, r, nil
}

// End removes a system, or keeps it.
func (p *Pool) End(ctx context.Context, s System, r *Record, keep bool) error {
	if keep {
		r.Kept = true
		return errors.Join(s.Keep(ctx), r.save(), r.lock.Close())
	}
	return errors.Join(s.Remove(ctx), r.release())
}

// records returns the records of all systems. The folder of one that died before it was recorded has only a name.
func (p *Pool) records() ([]*Record, error) {
	entries, err := os.ReadDir(filepath.Join(p.Dir, "run"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []*Record
	for _, e := range entries {
		if e.IsDir() {
			r := &Record{Name: e.Name(), pool: p}
			if text, err := os.ReadFile(filepath.Join(r.dir(), "system.json")); err == nil {
				_ = json.Unmarshal(text, r)
				r.Name = e.Name()
			}
			list = append(list, r)
		}
	}
	return list, err
}

// Reclaim removes the systems of processes that have ended without doing so, and returns their names.
func (p *Pool) Reclaim() (removed []string, err error) {
	list, err := p.records()
	for _, r := range list {
		if r.Kept {
			continue
		}
		lock, failure := p.take(r.Name)
		if errors.Is(failure, filelock.ErrLocked) {
			continue
		}
		if failure == nil {
			r.lock = lock
			failure = p.reclaim(r)
		}
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", r.Name, failure))
			continue
		}
		removed = append(removed, r.Name)
	}
	return removed, err
}

func (p *Pool) reclaim(r *Record) error {
	for _, d := range p.Drivers {
		if d.Name() == r.Driver {
			if err := d.Reclaim(r); err != nil {
				return errors.Join(err, r.lock.Close())
			}
		}
	}
	return r.release()
}

// Kept returns the names of the systems that were kept.
func (p *Pool) Kept() ([]string, error) {
	list, err := p.records()
	var names []string
	for _, r := range list {
		if r.Kept {
			names = append(names, r.Name)
		}
	}
	return names, err
}

// Attach returns a system that was kept. Its lock is held until [Pool.End].
func (p *Pool) Attach(ctx context.Context, name string) (System, *Record, error) {
	list, err := p.records()
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, r := range list {
		if !r.Kept {
			continue
		}
		if names = append(names, r.Name); r.Name != name {
			continue
		}
		lock, err := p.take(name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		r.lock = lock
		for _, d := range p.Drivers {
			if d.Name() == r.Driver {
				s, err := d.Attach(ctx, r)
				if err != nil {
					err = errors.Join(fmt.Errorf("%s: %w", name, err), d.Reclaim(r), r.release())
				}
				return s, r, err
			}
		}
	}
	return nil, nil, diag.At(diag.Pos{}, diag.NotFound("kept system", name, names))
}

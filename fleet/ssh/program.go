package ssh

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// A System is an operating system and an architecture, as Go calls them.
type System struct{ OS, Arch string }

// String formats s as in the names of programs by make cross: 32 bits of ARM are built for armv7.
func (s System) String() string {
	if s.Arch == "arm" {
		return s.OS + "-armv7"
	}
	return s.OS + "-" + s.Arch
}

// systems are the systems that ccm is built for, by the output of uname(1) -s and -m.
var systems = map[string]System{
	"Linux x86_64": {"linux", "amd64"}, "Linux amd64": {"linux", "amd64"},
	"Linux aarch64": {"linux", "arm64"}, "Linux arm64": {"linux", "arm64"},
	"Linux armv7l": {"linux", "arm"}, "Linux armv8l": {"linux", "arm"}, "Linux riscv64": {"linux", "riscv64"},
	"Darwin x86_64": {"darwin", "amd64"}, "Darwin arm64": {"darwin", "arm64"},
	"FreeBSD amd64": {"freebsd", "amd64"},
}

// Programs are the programs for each system: this one, and files called ccm-linux-arm64 and the
// like.
type Programs struct {
	Own     string   // this program
	System  System   // of this program
	Folders []string // of programs for other systems, in order of the search
	// Cache is the directory in which digests are remembered, "" for none.
	Cache string

	mu       sync.Mutex
	digests  digests
	programs map[System]*program
	errors   map[System]error
}

// A program is ccm for one system.
type program struct {
	file    string
	sha256  string
	plain   func() *packing // its content
	packing func() *packing // the same, compressed by gzip
}

// of returns the program for a system.
func (p *Programs) of(s System) (*program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x, ok := p.programs[s]; ok {
		return x, p.errors[s]
	}
	if p.programs == nil {
		p.programs, p.errors = make(map[System]*program), make(map[System]error)
		p.digests = readDigests(p.Cache)
	}
	p.programs[s], p.errors[s] = p.find(s)
	return p.programs[s], p.errors[s]
}

func (p *Programs) find(s System) (*program, error) {
	names := []string{p.Own}
	if s != p.System {
		names = nil
		for _, dir := range p.Folders {
			names = append(names, filepath.Join(dir, "ccm-"+s.String()))
		}
	}
	for _, name := range names {
		sum, err := p.digests.of(name, time.Now())
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		x := &program{file: name, sha256: sum}
		x.plain = sync.OnceValue(func() *packing { return pack(x, false) })
		x.packing = sync.OnceValue(func() *packing { return pack(x, true) })
		return x, nil
	}
	return nil, diag.None("ccm for the system %s: %w", s,
		diag.Expected("the file ccm-%s in one of %s (--binaries)", s, strings.Join(p.Folders, ", ")))
}

// available returns the programs that are found, by the output of uname of their systems, in order.
func (p *Programs) available() (unames []string, sums map[string]string) {
	sums = make(map[string]string)
	for uname, s := range systems {
		if x, err := p.of(s); err == nil {
			sums[uname] = x.sha256
			unames = append(unames, uname)
		}
	}
	slices.Sort(unames)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.digests.save()
	return unames, sums
}

// forHost returns the program for a host with this output of uname, compressed if the host can
// unpack it.
func (p *Programs) forHost(uname string, unpacks bool) (*packing, error) {
	system, ok := systems[uname]
	if !ok {
		return nil, diag.SubjectCannot("ccm", "run on the system %s", uname)
	}
	x, err := p.of(system)
	if err != nil {
		return nil, err
	}
	if unpacks {
		return x.packing(), nil
	}
	return x.plain(), nil
}

func errChanged(file string) error { return diag.Meanwhile(file, "changed") }

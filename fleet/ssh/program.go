package ssh

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/luaccm/ccm/runtime/sha256sum"
)

// A System is an operating system and an architecture, as Go calls them.
type System struct{ OS, Arch string }

// String formats s as make cross names programs: 32 bits of ARM are built for armv7.
func (s System) String() string {
	if s.Arch == "arm" {
		return s.OS + "-armv7"
	}
	return s.OS + "-" + s.Arch
}

// systems are what uname(1) -s and -m say of the systems that ccm is built for.
var systems = map[string]System{
	"Linux x86_64": {"linux", "amd64"}, "Linux amd64": {"linux", "amd64"},
	"Linux aarch64": {"linux", "arm64"}, "Linux arm64": {"linux", "arm64"},
	"Linux armv7l": {"linux", "arm"}, "Linux armv8l": {"linux", "arm"}, "Linux riscv64": {"linux", "riscv64"},
	"Darwin x86_64": {"darwin", "amd64"}, "Darwin arm64": {"darwin", "arm64"},
	"FreeBSD amd64": {"freebsd", "amd64"},
}

// Programs are the ccm for each system: this one, and files called ccm-linux-arm64 and the like.
type Programs struct {
	Own     string   // this program
	System  System   // of this program
	Folders []string // where those of others are looked for, in this order

	mu     sync.Mutex
	known  map[System]*program
	errors map[System]error
}

// A program is ccm for one system, as it is sent.
type program struct {
	sha256  string
	content []byte
	once    sync.Once
	packed  []byte
}

// of returns the program for a system.
func (p *Programs) of(s System) (*program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x, ok := p.known[s]; ok {
		return x, p.errors[s]
	}
	if p.known == nil {
		p.known, p.errors = make(map[System]*program), make(map[System]error)
	}
	p.known[s], p.errors[s] = p.read(s)
	return p.known[s], p.errors[s]
}

func (p *Programs) read(s System) (*program, error) {
	names := []string{p.Own}
	if s != p.System {
		names = nil
		for _, dir := range p.Folders {
			names = append(names, filepath.Join(dir, "ccm-"+s.String()))
		}
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &program{sha256: sha256sum.Bytes(content), content: content}, nil
	}
	return nil, fmt.Errorf("it is of system %s, and there is no ccm for that: want the file ccm-%[1]s in one of %s (--binaries)", s, strings.Join(p.Folders, ", "))
}

// available returns the programs that are there, by what uname says of their systems, in order.
func (p *Programs) available() (unames []string, sums map[string]string) {
	sums = make(map[string]string)
	for uname, s := range systems {
		if x, err := p.of(s); err == nil {
			sums[uname] = x.sha256
			unames = append(unames, uname)
		}
	}
	slices.Sort(unames)
	return unames, sums
}

// compressed returns the program compressed by gzip.
func (x *program) compressed() []byte {
	x.once.Do(func() {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a level that there is
		_, _ = z.Write(x.content)
		_ = z.Close()
		x.packed = b.Bytes()
	})
	return x.packed
}

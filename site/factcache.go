package site

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
)

// A cachedAnswer is a branch of the facts that an earlier command gathered.
type cachedAnswer struct {
	// Boot is the ID of the boot: a disk may be copied to another machine.
	Boot string    `json:"boot"`
	Time time.Time `json:"time"`
	Fact any       `json:"fact"`
}

// cachedFact returns the function of a gatherer with its answers kept in a directory of the user.
// Without a boot ID, or if the directory cannot be used, nothing is kept.
func (p *Process) cachedFact(g facts.Gatherer, dir string) func(ctx context.Context, v *host.View) (any, error) {
	file := filepath.Join(dir, g.Name+".json")
	return func(ctx context.Context, v *host.View) (any, error) {
		text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
		boot, now := string(text), p.Clock.Now()
		if boot == "" || v.Root() != "/" {
			return g.Gather(ctx, v)
		}
		if fact, ok := readAnswer(file, boot, now, g.CacheTime); ok {
			return fact, nil
		}
		fact, err := g.Gather(ctx, v)
		if err != nil || fact == nil {
			return fact, err
		}
		answer, err := json.Marshal(cachedAnswer{boot, now.UTC(), fact})
		if h := p.Host(""); err == nil && h.SaveDirectory(dir) == nil {
			_ = h.Save(file, answer, 0o600) // the next command asks again
		}
		return fact, nil
	}
}

// readAnswer returns the fact in a file of this user, if it is of this boot and not too old.
func readAnswer(file, boot string, now time.Time, keep time.Duration) (any, bool) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		return nil, false
	}
	var a cachedAnswer
	if json.NewDecoder(f).Decode(&a) != nil || a.Boot != boot || a.Fact == nil {
		return nil, false
	}
	if age := now.Sub(a.Time); age < 0 || age > keep {
		return nil, false
	}
	return a.Fact, true
}

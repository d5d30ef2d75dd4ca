package studio

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/luaccm/ccm/runtime/state/statedir"
	"github.com/luaccm/ccm/runtime/trust"
	"github.com/luaccm/ccm/studio/guard"
)

// A site is a program that runs as the user who opens it. So a directory is evaluated only after a
// person has said that it is trusted. This is remembered for the user's own directories; the
// content of others may change before the next time.

// trustedFile lists the directories that were trusted.
const trustedFile = "studio/trusted.json"

// maxTrusted is the most directories that are remembered.
const maxTrusted = 1000

// A place identifies a directory: another directory with the same path is a different place.
type place struct {
	Path  string `json:"path"`
	Dev   uint64 `json:"dev"`
	Inode uint64 `json:"inode"`
}

// A trustState says whether the directory may be evaluated.
type trustState struct {
	trusted bool
	reasons []string // why not
	own     bool
	place   place
	// empty is set for a directory that was empty when it was opened, until studio saves a file in
	// it. Such a directory is trusted as long as nobody else adds to it.
	empty bool
}

// judgeDirectory decides whether a directory may be evaluated without asking.
func judgeDirectory(dir string, state *statedir.Dir) (trustState, error) {
	fi, err := os.Stat(dir)
	if err != nil {
		return trustState{}, err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return trustState{}, fmt.Errorf("%s: unknown owner", dir)
	}
	t := trustState{place: place{dir, uint64(st.Dev), st.Ino}, own: true} //nolint:unconvert // Dev is int32 on other systems
	if me := uint32(os.Geteuid()); st.Uid != me {
		t.own = false
		t.reasons = append(t.reasons, "The folder belongs to "+trust.UserName(st.Uid)+".")
	}
	if fi.Mode().Perm()&0o002 != 0 {
		t.own = false
		t.reasons = append(t.reasons, fmt.Sprintf("The folder is world-writable (mode %04o).", fi.Mode().Perm()))
	}
	list, err := readTrusted(state)
	if err != nil {
		return t, err
	}
	if !slices.Contains(list, t.place) {
		inside, err := os.ReadDir(dir)
		if err != nil {
			return t, err
		}
		if t.empty = len(inside) == 0 && fi.Mode().Perm()&0o020 == 0; !t.empty { // an empty directory needs no trust
			t.reasons = append(t.reasons, "The folder was not opened in studio before.")
		}
	}
	t.trusted = len(t.reasons) == 0
	return t, nil
}

func readTrusted(state *statedir.Dir) (list []place, err error) {
	text, err := state.ReadFile(trustedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(text, &list) != nil {
		return nil, nil // a damaged list trusts no directory
	}
	return list, nil
}

// remember stores that a directory is trusted.
func (t *trustState) remember(state *statedir.Dir) error {
	list, err := readTrusted(state)
	if err != nil || slices.Contains(list, t.place) {
		return err
	}
	list = slices.DeleteFunc(list, func(p place) bool { return p.Path == t.place.Path })
	list = append(list, t.place)
	list = list[max(0, len(list)-maxTrusted):]
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := makeDirs(state, path.Dir(trustedFile)); err != nil {
		return err
	}
	return state.Replace(trustedFile, true, statedir.Writing(text))
}

// serveTrust answers POST /api/trust.
func (s *Server) serveTrust(w http.ResponseWriter, r *http.Request) {
	var in Trust
	if !guard.Decode(w, r, &in) {
		return
	}
	if filepath.Clean(in.Directory) != s.options.Directory {
		fail(w, http.StatusBadRequest, Failure{Error: "the request is for " + s.options.Directory})
		return
	}
	if err := s.gate.open(); err != nil {
		respond(w)(nil, err)
		return
	}
	s.hub.send("trust", s.session())
	s.workspace.recheckAll()
	guard.Reply(w, http.StatusOK, s.session())
}

// look ends the trust in an empty directory if others have added to it.
func (t *trustState) look() {
	if !t.empty || !t.trusted {
		return
	}
	if inside, err := os.ReadDir(t.place.Path); err != nil || len(inside) > 0 {
		t.trusted, t.empty, t.reasons = false, false, []string{"The folder was empty, and now contains files that studio did not write."}
	}
}

// A gate says whether the directory may be evaluated.
type gate struct {
	state *statedir.Dir

	mu    sync.Mutex
	trust trustState
}

// isTrusted reports whether the directory may be evaluated.
func (g *gate) isTrusted() bool {
	trusted, _ := g.status()
	return trusted
}

// check returns an error if nothing may be evaluated.
func (g *gate) check() error {
	if !g.isTrusted() {
		return refuse(http.StatusForbidden, "untrusted", errUntrusted)
	}
	return nil
}

// status reports whether the directory may be evaluated, or why not.
func (g *gate) status() (trusted bool, why []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trust.look()
	return g.trust.trusted, g.trust.reasons
}

// open allows evaluating the directory, after a person's decision.
func (g *gate) open() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trust.own {
		if err := g.trust.remember(g.state); err != nil {
			return err
		}
	}
	g.trust.trusted, g.trust.reasons = true, nil
	return nil
}

// beginWriting is called before studio writes into the directory. It reports whether this is the
// first file of an empty one.
func (g *gate) beginWriting() (first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trust.look()
	first = g.trust.empty && g.trust.trusted
	if first {
		g.trust.empty = false
	}
	return first
}

// rememberOwn stores that a directory is trusted that was empty when it was opened, after studio
// has written into it.
func (g *gate) rememberOwn() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.trust.own || !g.trust.trusted {
		return nil
	}
	return g.trust.remember(g.state)
}

// errUntrusted is the reason why nothing is evaluated.
const errUntrusted = "this directory is not trusted yet, so nothing is evaluated"

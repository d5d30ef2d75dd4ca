package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/trust"
)

// trust says which files are believed that say what ccm is to do. All that reads
// such a file asks it: scripts and their modules, manifests and what they
// include, data, facts, specs, sessions and the state directory. What is only
// brought to the machine, such as the source of a file, is content and not asked
// about.
func (e *env) trust() *trust.Policy {
	if e.allowInsecure {
		return nil
	}
	return trust.Of(os.Geteuid(), os.Getenv)
}

// readFound reads a file that nobody has named: it is found in the working
// directory. One that is not believed is left out with a warning, as if it were not
// there. If it lies beside the script that was named, which may say something else
// without it, that is an error. The hint says how to name the file.
func (e *env) readFound(name, site, hint string) ([]byte, error) {
	err := e.trust().CheckFound(name)
	if err == nil {
		return e.readFile(name)
	}
	placed, ok := errors.AsType[*diag.Error](err)
	if !ok {
		return nil, err
	}
	err = placed.WithHint("%s", hint)
	if beside(site) {
		return nil, err
	}
	e.warn("left out: " + err.Error())
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// checkState returns an error unless the state directory, or the place where it is
// going to be made, is of whoever runs ccm: restore brings back what it holds, drift
// asks the guards that it names, and what it keeps others must not read. What leads
// there may be of whoever asked for root too.
func (e *env) checkState(dir string) error {
	if err := e.checkPlace(dir); err != nil || e.allowInsecure {
		return err
	}
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	if me := uint32(os.Geteuid()); st.Uid != me {
		return diag.Errorf(diag.Pos{File: dir}, "want a directory of %s, found one that belongs to %s", trust.UserName(me), trust.UserName(st.Uid)).
			WithHint("chown %d %s", me, dir)
	}
	return nil
}

// readKey reads the key of the state directory, if that is believed.
func (e *env) readKey() ([]byte, error) {
	dir := state.Dir(e.stateDir)
	if err := e.checkState(dir); err != nil {
		return nil, err
	}
	return state.ReadKey(dir)
}

// checkPlace returns an error if a file or directory of our own, or the directory in
// which it is going to be made, is not believed.
func (e *env) checkPlace(file string) error {
	if file == "" {
		return nil
	}
	for err := e.trust().CheckKept(file); ; err = e.trust().CheckKept(file) {
		if !errors.Is(err, fs.ErrNotExist) || file == filepath.Dir(file) {
			return err
		}
		file = filepath.Dir(file)
	}
}

// beside reports whether a script lies in the working directory.
func beside(site string) bool {
	if site == "" || site == "-" {
		return false
	}
	dir, err := os.Stat(filepath.Dir(site))
	if err != nil {
		return false
	}
	here, err := os.Stat(".")
	return err == nil && os.SameFile(dir, here)
}

// readModule returns how the modules of a script are read. Those of a script that
// was named are a part of it. What is typed, or comes from standard input, finds
// them in the working directory, which nobody has named.
func (e *env) readModule(site string) func(name string) ([]byte, error) {
	if !slices.Contains([]string{"", "-", stdin, commandLineName}, site) {
		return e.readFile
	}
	return func(name string) ([]byte, error) {
		if err := e.trust().CheckFound(name); err != nil {
			return nil, err
		}
		return e.readFile(name)
	}
}

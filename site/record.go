package site

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
)

// A runRecord is what the state directory remembers of earlier runs and, unless it is a plan,
// the record of this one.
type runRecord struct {
	recorder *Recorder
	store    *state.Store
	site     string // see nameOfRun
	file     string // its path; "" if only the name is known
	root     string
	writer   *state.RecordWriter // nil in a plan
	lock     *state.LockHandle   // nil in a plan
}

// attach has an engine make up for what earlier runs have left over, and record
// what it does.
func (r *runRecord) attach(engine *converge.Engine, c *catalog.Catalog) error {
	if err := conceal(engine, r.recorder.process.Secrets, r.store); err != nil {
		return err
	}
	if r.writer == nil {
		pending, damaged, err := r.store.Pending()
		if err != nil {
			return diag.About("state directory", err)
		}
		if damaged > 0 {
			r.recorder.process.Messages.Warn(fmt.Sprintf("%d damaged lines in the list of refreshes that are owed", damaged))
		}
		engine.PendingRefreshes = state.PendingRefreshes(pending, r.site, r.root, c)
		engine.Cause = r.store.Cause(r.site, r.file, r.root)
		return nil
	}
	r.writer.AddCatalog(c)
	engine.Journal, engine.PendingRefreshes, engine.Cause = r.writer, r.writer.PendingRefreshes(r.site, c), r.writer.Cause
	// The record comes first, so that it is there even if the report cannot be
	// written.
	engine.Reporter = event.Reporters{r.writer, engine.Reporter}
	return nil
}

// end ends the record and gives the lock back. That the record could not be
// written does not undo the run.
func (r *runRecord) end(s event.Summary) {
	if r.writer == nil {
		return
	}
	r.recorder.writer = nil
	if err := r.writer.End(s); err != nil {
		r.recorder.process.Messages.Warn("the record of this run is not complete: " + err.Error())
	}
	r.release()
}

// release gives the lock back.
func (r *runRecord) release() {
	if r.writer == nil {
		return
	}
	r.recorder.writer = nil
	r.recorder.endWork()
	_ = r.lock.Unlock()
}

// conceal has an engine tell no secrets, nor what has held some.
func conceal(engine *converge.Engine, secrets *secret.Keeper, store *state.Store) (err error) {
	engine.Secrets = secrets
	if engine.SecretHistory, err = store.SecretHistory(); err != nil {
		return diag.About("state directory", err)
	}
	return nil
}

// Name returns the name under which the state directory knows a script or
// manifest: its absolute path, or its URL without what authorizes; "" for standard input. What is run with arguments or with
// options that select what is declared has a name of its own, see nameOfRun.
func Name(file string) (string, error) {
	if file == "-" {
		return "", nil
	}
	if known, ok := knownURL(file); ok {
		return known, nil
	}
	return filepath.Abs(file)
}

// nameOfRun returns the name under which the state directory knows what a script or manifest
// declares with these arguments and options: /srv/site.lua web (--fact role=db). Without any
// it is that of the file, path. Secrets are not in it.
func (b *enteredBundle) nameOfRun(file string, args []string, o *Options, secrets *secret.Keeper) (name, path string, err error) {
	if b != nil && file == b.name {
		path = b.stateName
	} else if path, err = Name(file); err != nil || path == "" {
		return path, path, err
	}
	selecting, err := o.selecting()
	if err != nil {
		return "", "", err
	}
	name = withArguments(path, args)
	if len(selecting) > 0 {
		name += " (" + shellquote.Join(selecting...) + ")"
	}
	return secrets.Redact(name), path, nil
}

func withArguments(name string, args []string) string {
	if len(args) == 0 {
		return name
	}
	return name + " " + shellquote.Join(args...)
}

// IsRunOf reports whether something was applied by a script or manifest with these arguments;
// with any if there are none.
func IsRunOf(a state.AppliedHeader, file string, args []string) (bool, error) {
	path, err := Name(file)
	if err != nil || a.Site != path && a.File != path {
		return false, err
	}
	rest, is := strings.CutPrefix(a.Site, withArguments(path, args))
	return len(args) == 0 || is && (rest == "" || strings.HasPrefix(rest, " (")), nil
}

// FlagsAndArguments returns the flags, the file and the arguments with which another command
// sees what a run of these sees, as a shell reads them.
func FlagsAndArguments(file string, args []string, o *Options) (string, error) {
	words, err := o.selecting()
	if o.Root != "" && o.Root != "/" {
		words = append([]string{"--root", o.Root}, words...)
	}
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }) {
		words = append(words, "--")
	}
	return shellquote.Join(append(append(words, file), args...)...), err
}

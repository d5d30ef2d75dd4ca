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

// A runRecord has the records of earlier runs in the state directory and, unless it is a plan,
// the record of this run.
type runRecord struct {
	recorder *Recorder
	store    *state.Store
	site     string // see nameOfRun
	file     string // path of the file; "" if only the name is known
	root     string
	writer   *state.RecordWriter // nil in a plan
	lock     *state.LockHandle   // nil in a plan
}

// attach gives an engine the pending refreshes of earlier runs, and records what it does.
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
	// The writer comes first, so that there is a record even if the report cannot be written.
	engine.Reporter = event.Reporters{r.writer, engine.Reporter}
	return nil
}

// end ends the record and releases the lock. If the record could not be written, the run stays
// valid.
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

// release releases the lock.
func (r *runRecord) release() {
	if r.writer == nil {
		return
	}
	r.recorder.writer = nil
	r.recorder.endWork()
	_ = r.lock.Unlock()
}

// conceal makes an engine mask secrets, and properties that held secrets.
func conceal(engine *converge.Engine, secrets *secret.Keeper, store *state.Store) (err error) {
	engine.Secrets = secrets
	if engine.SecretHistory, err = store.SecretHistory(); err != nil {
		return diag.About("state directory", err)
	}
	return nil
}

// Name returns the name of a script or manifest in the state directory: its absolute path, or its
// URL without credentials; "" for standard input. With arguments, or options that select what is
// declared, the name is that of nameOfRun.
func Name(file string) (string, error) {
	if file == "-" {
		return "", nil
	}
	if known, ok := knownURL(file); ok {
		return known, nil
	}
	return filepath.Abs(file)
}

// nameOfRun returns the name in the state directory of a script or manifest with arguments and
// options: /srv/site.lua web (--fact role=db). Path is the name without these. Neither has
// secrets.
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

// IsRunOf reports whether a catalog was applied by a script or manifest with these arguments.
// Without arguments, any will do.
func IsRunOf(a state.AppliedHeader, file string, args []string) (bool, error) {
	path, err := Name(file)
	if err != nil || a.Site != path && a.File != path {
		return false, err
	}
	rest, is := strings.CutPrefix(a.Site, withArguments(path, args))
	return len(args) == 0 || is && (rest == "" || strings.HasPrefix(rest, " (")), nil
}

// FlagsAndArguments returns the flags, the file and the arguments, as a shell reads them, for
// another command that shall read the same site.
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

package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/trust"
)

// How messages speak of what stands in no file.
const (
	Stdin       = "stdin"
	CommandLine = "command line"
)

// Files are the files that say what ccm is to do, as far as they are trusted. All
// that reads such a file asks here: scripts and their modules, manifests and what
// they include, data, facts, specs, sessions and the state directory. What is only
// brought to the machine, such as the source of a file, is content and not asked
// about.
type Files struct {
	// AllowInsecure has root trust files that everybody may write, too.
	AllowInsecure bool
	Messages      *Messages
	// EditedText returns the text that takes the place of what a file holds, for who edits it and has
	// not saved it. The path is absolute. May be nil.
	EditedText func(path string) (text string, ok bool)

	ctx   context.Context // in which files are read
	limit time.Duration   // of the reading of one file
}

// readTimeout is how long it may take to read one file, if nothing else is said.
const readTimeout = time.Minute

// Begin sets the context in which files are read. Those that the shell has opened,
// such as <(...), may have no end.
func (f *Files) Begin(ctx context.Context) { f.ctx, f.limit = ctx, readTimeout }

// Context returns the context in which files are read.
func (f *Files) Context() context.Context { return f.ctx }

// beginOnce is Begin, unless that was called before.
func (f *Files) beginOnce(ctx context.Context) {
	if f.ctx == nil {
		f.Begin(ctx)
	}
}

// setLimit sets how long each file may take: as long as a script, and no longer than
// a run, unless that is 0.
func (f *Files) setLimit(script, run time.Duration) {
	f.limit = script
	if run > 0 {
		f.limit = min(script, run)
	}
}

// readContext returns the context in which one file is read.
func (f *Files) readContext() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(f.ctx, f.limit, &readTimeoutError{f.limit})
}

// A readTimeoutError says that reading a file takes longer than it may.
type readTimeoutError struct{ limit time.Duration }

// Error says how long it may take.
func (e *readTimeoutError) Error() string {
	return fmt.Sprintf("it does not end within %s (--eval-timeout and --timeout give it more time)", e.limit)
}

// ReadFile reads a file that the command line, a manifest, a template or an expression
// names, if it is trusted. What is no file is refused: a device may have no end.
func (f *Files) ReadFile(path string) ([]byte, error) { return f.readBy(f.Trust(), path) }

// readBy is ReadFile with a policy that was made before.
func (f *Files) readBy(policy *trust.Policy, path string) ([]byte, error) {
	if text, ok := f.edited(path); ok {
		return []byte(text), nil
	}
	ctx, cancel := f.readContext()
	defer cancel()
	text, err := policy.ReadFile(ctx, path)
	if err != nil && errors.Is(context.Cause(ctx), ErrInterrupted) {
		err = ErrInterrupted
	}
	return text, err
}

// edited returns the text that takes the place of a file.
func (f *Files) edited(path string) (string, bool) {
	if f.EditedText == nil {
		return "", false
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	return f.EditedText(abs)
}

// Trust returns what decides which files are trusted.
func (f *Files) Trust() *trust.Policy {
	if f.AllowInsecure {
		return nil
	}
	return trust.Of(os.Geteuid(), os.Getenv)
}

// ReadFound reads a file that nobody has named: it is found in the working
// directory. One that is not trusted is left out with a warning, as if it were not
// there. If it lies beside the script that was named, which may say something else
// without it, that is an error. The hint says how to name the file.
func (f *Files) ReadFound(name, site, hint string) ([]byte, error) {
	err := f.Trust().CheckFound(name)
	if err == nil {
		return f.ReadFile(name)
	}
	placed, ok := errors.AsType[*diag.Error](err)
	if !ok {
		return nil, err
	}
	err = placed.WithHint("%s", hint)
	if isInWorkingDir(site) {
		return nil, err
	}
	f.Messages.Warn("left out: " + err.Error())
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// CheckState returns an error unless the state directory, or the place where it is
// going to be made, is of the user of ccm: restore brings back what it holds, drift
// asks the guards that it names, and what it keeps others must not read. What leads
// there may be of whoever asked for root too.
func (f *Files) CheckState(dir string) error {
	if err := f.CheckPlace(dir); err != nil || f.AllowInsecure {
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

// ReadKey reads the key of a state directory, if that is trusted.
func (f *Files) ReadKey(stateDir string) ([]byte, error) {
	dir := state.Dir(stateDir)
	if err := f.CheckState(dir); err != nil {
		return nil, err
	}
	return state.ReadKey(dir)
}

// CheckPlace returns an error if a file or directory of our own, or the directory in
// which it is going to be made, is not trusted.
func (f *Files) CheckPlace(file string) error {
	if file == "" {
		return nil
	}
	for err := f.Trust().CheckKept(file); ; err = f.Trust().CheckKept(file) {
		if !errors.Is(err, fs.ErrNotExist) || file == filepath.Dir(file) {
			return err
		}
		file = filepath.Dir(file)
	}
}

// isInWorkingDir reports whether a script lies in the working directory.
func isInWorkingDir(site string) bool {
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
func (f *Files) readModule(site string) func(name string) ([]byte, error) {
	if !isUnnamed(site) {
		return f.ReadFile
	}
	return func(name string) ([]byte, error) {
		if err := f.Trust().CheckFound(name); err != nil {
			return nil, err
		}
		return f.ReadFile(name)
	}
}

// isUnnamed reports whether a script lies in no file that somebody named.
func isUnnamed(site string) bool {
	return slices.Contains([]string{"", "-", Stdin, CommandLine}, site)
}

// SearchPath returns the directories that a variable such as PATH names, without
// those that are not trusted. For root these are the relative ones too: what they
// name depends on where ccm was started.
func (f *Files) SearchPath(variable string) []string {
	return f.TrustedDirectories(variable, filepath.SplitList(os.Getenv(variable)))
}

// TrustedDirectories is [Files.SearchPath] for directories that a variable names in
// another form.
func (f *Files) TrustedDirectories(variable string, names []string) []string {
	var dirs []string
	policy := f.Trust()
	for _, dir := range names {
		var err error
		switch {
		case dir == "" && policy == nil:
			continue
		case policy == nil:
		case !filepath.IsAbs(dir):
			err = diag.Errorf(diag.Pos{}, "%q is not believed as root, because it is not absolute", dir).WithHint("name the whole path")
		default:
			err = f.CheckPlace(dir)
		}
		if err != nil {
			f.Messages.Warn("left out of " + variable + ": " + err.Error())
			continue
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

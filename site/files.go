package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/trust"
	"github.com/luaccm/ccm/runtime/words"
)

// Names in messages of texts that are in no file.
const (
	Stdin       = "stdin"
	CommandLine = "command line"
)

// Files reads the files that control ccm, and checks that they are trusted: scripts and
// their modules, manifests and their includes, data, facts, specs, sessions and the state
// directory. A file that is only copied to the machine, such as a source, is content and not
// checked.
type Files struct {
	// AllowInsecure makes root trust files that everybody may write.
	AllowInsecure bool
	Messages      *Messages
	// EditedText returns the unsaved text of a file that somebody edits, which counts instead of
	// the saved one. The path is absolute. May be nil.
	EditedText func(path string) (text string, ok bool)

	// Bundle is the bundle in the working directory; nil for a local site.
	Bundle *UnpackedBundle

	ctx   context.Context // ends reads
	limit time.Duration   // time limit of one read
}

// readTimeout is the default time limit to read one file.
const readTimeout = time.Minute

// SetContext sets the context that ends reads. A file that the shell has opened, such as <(...), may
// have no end.
func (f *Files) SetContext(ctx context.Context) { f.ctx, f.limit = ctx, readTimeout }

// Context returns the context of reads.
func (f *Files) Context() context.Context { return f.ctx }

// setContextOnce calls SetContext once.
func (f *Files) setContextOnce(ctx context.Context) {
	if f.ctx == nil {
		f.SetContext(ctx)
	}
}

// setLimit sets the time limit to read one file: that of a script, and at most that of a run
// unless that is 0.
func (f *Files) setLimit(script, run time.Duration) {
	f.limit = script
	if run > 0 {
		f.limit = min(script, run)
	}
}

// readContext returns the context to read one file.
func (f *Files) readContext() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(f.ctx, f.limit, &readTimeoutError{f.limit})
}

// A readTimeoutError says that reading a file exceeds the time limit.
type readTimeoutError struct{ limit time.Duration }

// Error says how long it may take.
func (e *readTimeoutError) Error() string {
	return fmt.Sprintf("command exceeded the time limit of %s (raise it with --eval-timeout or --timeout)", words.Duration(e.limit))
}

// ReadFile reads a trusted file that the command line, a manifest, a template or an expression
// names. Anything else than a file is refused: a device may have no end.
func (f *Files) ReadFile(path string) ([]byte, error) { return f.readBy(f.Trust(), path) }

// readBy is ReadFile with an existing policy.
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

// edited returns the unsaved text of a file.
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

// Trust returns the policy that decides which files are trusted.
func (f *Files) Trust() *trust.Policy {
	if f.AllowInsecure {
		return nil
	}
	return trust.Of(os.Geteuid(), os.Getenv)
}

// ReadFound reads a file that was found in the working directory without being named. If it is
// not trusted, ReadFound warns and returns that it does not exist. If the named script is in the
// same directory, that is an error instead, because without the file the script may do something
// else. The hint shows how to name the file.
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
	f.Messages.Warn("skipped: " + err.Error())
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// CheckState returns an error unless the state directory, or the place for it, belongs to the
// user of ccm. Restore writes its contents, drift runs the guards in it, and others must not read
// it. The directories above may also belong to the user who called sudo.
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
		return diag.At(diag.Pos{File: dir}, diag.Expected("a directory of %s", trust.UserName(me)).Found("one that belongs to %s", trust.UserName(st.Uid))).
			WithHint("chown %d %s", me, dir)
	}
	return nil
}

// ReadKey reads the key of a state directory, if the directory is trusted.
func (f *Files) ReadKey(stateDir string) ([]byte, error) {
	dir := state.Dir(stateDir)
	if err := f.CheckState(dir); err != nil {
		return nil, err
	}
	return state.ReadKey(dir)
}

// CheckPlace returns an error if a file or directory of ccm, or the directory in which it will be
// made, is not trusted.
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

// isInWorkingDir reports whether a script is in the working directory.
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

// readModule returns the function that reads the modules of a script. Modules of a named script
// are a part of it. A typed script, or one from standard input, finds its modules in the working
// directory, which nobody has named.
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

// isUnnamed reports whether a script is in no file that somebody named.
func isUnnamed(site string) bool {
	return slices.Contains([]string{"", "-", Stdin, CommandLine}, site)
}

// SearchPath returns the trusted directories in a variable such as PATH. For root that excludes
// relative ones, because they depend on where ccm was started.
func (f *Files) SearchPath(variable string) []string {
	return f.TrustedDirectories(variable, filepath.SplitList(os.Getenv(variable)))
}

// TrustedDirectories is [Files.SearchPath] for a variable that lists directories in another form.
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
			err = diag.At(diag.Pos{}, diag.Not(strconv.Quote(dir), "trusted as root: not an absolute path")).
				WithHint("use an absolute path")
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

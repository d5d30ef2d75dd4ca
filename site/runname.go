package site

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site/remote"
)

// Name returns the name of a script or manifest in the state directory: its absolute path, or its
// URL without credentials; "" for standard input. With arguments, or options that select what is
// declared, the name is that of nameOfRun.
func Name(file string) (string, error) {
	if file == "-" {
		return "", nil
	}
	if known, ok := remote.WithoutCredentials(file); ok {
		return known, nil
	}
	return filepath.Abs(file)
}

// nameOfRun returns the name in the state directory of a script or manifest with arguments and
// options: /srv/site.lua web (--fact role=db). Path is the name without these. Neither has
// secrets.
func (b *UnpackedBundle) nameOfRun(file string, args []string, o *Options, secrets *secret.Keeper) (name, path string, err error) {
	if b != nil && file == b.Name {
		path = b.StateName
	} else if path, err = Name(file); err != nil || path == "" {
		return path, path, err
	}
	selecting, err := o.selectionFlags()
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
	words, err := o.selectionFlags()
	if o.Root != "" && o.Root != "/" {
		words = append([]string{"--root", o.Root}, words...)
	}
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }) {
		words = append(words, "--")
	}
	return shellquote.Join(append(append(words, file), args...)...), err
}

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/bundles"
)

// AddBundleFlags adds the flags that select the trusted bundles.
func AddBundleFlags(fs *pflag.FlagSet, o *site.BundleOptions) {
	fs.StringVar(&o.Signers, "signers", "", "only run sites signed by a key in `FILE` (see allowed_signers of ssh)")
	fs.StringVar(&o.SHA256, "sha256", "", "only run a bundle or URL with this SHA-256 `DIGEST`")
}

// Enter goes where the site called name can be read. For a bundle or a URL that is the directory
// into which the site is unpacked. Paths are values of further flags: relative ones are then made
// absolute, because the user means them from the directory of the command. Leave goes back, and
// adds an error to the one of the command.
func (f *SiteFlags) Enter(ctx context.Context, e *Env, name string, paths ...*string) (leave func(*error), err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	back, err := bundles.Enter(ctx, e.Process, name, f.SiteOptions())
	if err != nil {
		return nil, err
	}
	if now, _ := os.Getwd(); now != dir {
		for _, path := range append(paths, &e.StateDir) {
			if *path != "" && !filepath.IsAbs(*path) && !strings.HasPrefix(*path, "-") {
				*path = filepath.Join(dir, *path)
			}
		}
	}
	return func(err *error) { *err = errors.Join(*err, back()) }, nil
}

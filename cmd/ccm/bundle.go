package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/signers"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// bundleFlags are the flags of bundle.
type bundleFlags struct {
	out     string
	exclude []string
	plain   []string // may hold what looks like a secret
	sign    string   // the key, or ""
	exe     bool
}

func newBundleCommand(e *env) *cobra.Command {
	f := &bundleFlags{}
	cmd := &cobra.Command{
		Use:   "bundle DIR|FILE",
		Short: "Pack the folder of a site into one file",
		Long: `Pack the folder of a site into one file, which ccm run and ccm plan take in
place of a script: all of it, with data, templates, modules and files. Equal
folders give equal bytes. The SHA-256 is printed as sha256sum does.

DIR is the folder; site.lua in it is run, or else manifest.yaml. FILE is another
script or manifest, and the folder is that in which it lies.

What a file .ccmignore in the folder names is left out, as ccm lint does it, and
so is what version control keeps (.git and its like). Links that lead out of the
folder, devices and pipes are refused, and what seems to be a secret that stands
there as it is. Modules are packed at the versions of ccm.lock.

With --exe the file is an executable: its arguments are those of ccm run, or after
--ccm those of ccm.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return diag.Errorf(diag.Pos{}, "want the folder of a site").WithHint("%s DIR -o site.tar.gz", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completeFile(),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := e.UntilStopped(cmd.Context())
			defer cancel()
			return writeBundle(ctx, e, f, args[0])
		},
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write the bundle to `FILE`; - is standard output (default: the name of the folder, with .tar.gz)")
	cmd.Flags().StringArrayVar(&f.exclude, "exclude", nil, "leave out what matches `PATTERN`, as a line of .ccmignore does (may be given again)")
	cmd.Flags().StringArrayVar(&f.plain, "allow-plain", nil, "pack files that match `PATTERN` although they seem to hold a secret as it is (may be given again)")
	cmd.Flags().BoolVar(&f.exe, "exe", false, "write an executable: this ccm, and the site in it")
	cmd.Flags().StringVar(&f.sign, "sign", "", "sign the bundle with the `KEY` of ssh-keygen -Y sign, private or public, and write the signature beside it")
	cmd.MarkFlagsMutuallyExclusive("exe", "sign")
	return cmd
}

// writeBundle is bundle.
func writeBundle(ctx context.Context, e *env, f *bundleFlags, name string) error {
	folder, err := e.BundleFolder(name, f.exclude)
	if err != nil {
		return err
	}
	out := f.out
	switch {
	case f.exe && runtime.GOOS == "darwin":
		return errors.New("--exe: macOS runs only programs that nothing was added to")
	case f.exe && out == "":
		return diag.Errorf(diag.Pos{}, "--exe: want a name for the executable").WithHint("-o FILE")
	}
	if out == "" {
		abs, err := filepath.Abs(folder.Dir)
		if err != nil {
			return err
		}
		if out = filepath.Base(abs) + ".tar.gz"; abs == "/" {
			return errors.New("the root of the machine is no site")
		}
	}
	if f.sign != "" && out == "-" {
		return diag.Errorf(diag.Pos{}, "--sign: a signature stands beside a file, and standard output is none").WithHint("-o FILE")
	}
	if err := e.RefusePlain(folder, f.plain); err != nil {
		return err
	}
	sum, digest, err := saveBundle(ctx, folder, out, f.exe, e.stdout.Unwrap())
	if err != nil {
		return err
	}
	if f.sign != "" {
		if err := signBundle(ctx, e, f.sign, out); err != nil {
			return err
		}
	}
	line := e.stdout
	if out == "-" {
		line = e.stderr
	}
	terminal.Fprintf(line, "%s  %s\n", digest, out)
	terminal.Fprintf(e.stderr, "ccm: %s\n", sum.String())
	return nil
}

// saveBundle writes the bundle of a folder to a file, or to stdout, and returns the SHA-256 of what
// was written. With exe the file is an executable.
func saveBundle(ctx context.Context, folder bundle.Folder, out string, exe bool, stdout io.Writer) (sum bundle.Summary, digest string, err error) {
	hash := sha256.New()
	write := func(to io.Writer) (err error) {
		to = io.MultiWriter(to, hash)
		pack := func(w io.Writer) (err error) {
			sum, err = bundle.Write(ctx, w, folder)
			return err
		}
		if !exe {
			return pack(to)
		}
		self, err := openSelf()
		if err != nil {
			return err
		}
		defer self.Close()
		return bundle.WriteExecutable(to, self, pack)
	}
	if out == "-" {
		err = write(stdout)
		return sum, hex.EncodeToString(hash.Sum(nil)), err
	}
	leave, mode := folder.Leave, uint32(0o644)
	if exe {
		mode = 0o755
	}
	folder.Leave = func(rel string, dir bool) bool {
		return leave(rel, dir) || !dir && isFile(filepath.Join(folder.Dir, rel), out) || !dir && isFile(filepath.Join(folder.Dir, rel), out+bundle.SignatureSuffix)
	}
	r, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := write(w)
		w.CloseWithError(err)
		packed <- err
	}()
	err = host.New(host.Options{}).SaveFrom(out, r, mode)
	r.CloseWithError(err) // ends the writer, if it has not ended
	if failed := <-packed; failed != nil && err != nil {
		err = failed // saving failed because of it, or with the same error
	}
	return sum, hex.EncodeToString(hash.Sum(nil)), err
}

// signBundle writes the signature of a file beside it.
func signBundle(ctx context.Context, e *env, key, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	signature, err := signers.Key{File: key, Said: asideWriter{e.stderr}}.Sign(ctx, f, bundle.SignatureNamespace)
	if err != nil {
		return fmt.Errorf("--sign %s: %w", key, err)
	}
	return host.New(host.Options{}).Save(file+bundle.SignatureSuffix, signature, 0o644)
}

// An asideWriter passes on what another program says to a person.
type asideWriter struct{ to *terminal.Writer }

// Write implements io.Writer.
func (w asideWriter) Write(p []byte) (int, error) {
	terminal.Fprintf(w.to, "%s", terminal.LinesText(string(p)))
	return len(p), w.to.Flush()
}

// isFile reports whether two paths lead to one file.
func isFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// addBundle adds the flags about which bundles are believed.
func addBundle(fs *pflag.FlagSet, o *site.BundleOptions) {
	fs.StringVar(&o.Signers, "signers", "", "run only what one of these has signed, for the namespace "+bundle.SignatureNamespace+": a `FILE` as allowed_signers of ssh-keygen(1)")
	fs.StringVar(&o.SHA256, "sha256", "", "run only what has this SHA-256 `DIGEST`: a bundle, or what is behind a URL")
}

// within calls do with the site of f at hand, which may be a bundle or behind a URL. Paths are further
// flags, which are meant from the working directory.
func (f *siteFlags) within(ctx context.Context, e *env, name string, do func() error, paths ...*string) (err error) {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	leave, err := e.Enter(ctx, name, f.options())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if now, _ := os.Getwd(); now != dir {
		for _, path := range append(paths, &e.stateDir) {
			if *path != "" && !filepath.IsAbs(*path) && !strings.HasPrefix(*path, "-") {
				*path = filepath.Join(dir, *path)
			}
		}
	}
	return do()
}

// within is that of siteFlags, with the paths of a run.
func (f *runFlags) within(ctx context.Context, e *env, name string, do func() error) error {
	return f.siteFlags.within(ctx, e, name, do, &f.stateDir, &f.report.path, &f.out, &f.profile.file)
}

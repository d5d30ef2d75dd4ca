package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
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
	plain   []string // paths that may contain likely secrets
	sign    string   // the key, or ""
	exe     bool
}

func newBundleCommand(e *cli.Env) *cobra.Command {
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
				return diag.At(diag.Pos{}, diag.Expected("the folder of a site")).WithHint("%s DIR -o site.tar.gz", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: cli.CompleteFile(),
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

// writeBundle packs a site into a file, and signs that if the flags ask for it.
func writeBundle(ctx context.Context, e *cli.Env, f *bundleFlags, name string) error {
	folder, err := e.BundleFolder(name, f.exclude)
	if err != nil {
		return err
	}
	out := f.out
	switch {
	case f.exe && runtime.GOOS == "darwin":
		return errors.New("--exe: macOS runs only programs that nothing was added to")
	case f.exe && out == "":
		return diag.Errorf(diag.Pos{}, "--exe: %w", diag.Expected("a name for the executable")).WithHint("-o FILE")
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
	if err := site.RefusePlain(folder, f.plain); err != nil {
		return err
	}
	var program *os.File
	if f.exe {
		if program, err = openSelf(); err != nil {
			return err
		}
		defer program.Close()
	}
	sum, digest, err := site.SaveBundle(ctx, folder, out, program, e.Stdout.Unwrap())
	if err != nil {
		return err
	}
	if f.sign != "" {
		if err := signBundle(ctx, e, f.sign, out); err != nil {
			return err
		}
	}
	line := e.Stdout
	if out == "-" {
		line = e.Stderr
	}
	terminal.Fprintf(line, "%s  %s\n", digest, out)
	terminal.Fprintf(e.Stderr, "ccm: %s\n", sum.String())
	return nil
}

// signBundle writes the signature of a file next to that file.
func signBundle(ctx context.Context, e *cli.Env, key, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	signature, err := signers.Key{File: key, Prompts: cli.NewMessageWriter(e)}.Sign(ctx, f, bundle.SignatureNamespace)
	if err != nil {
		return fmt.Errorf("--sign %s: %w", key, err)
	}
	return host.New(host.Options{}).Save(file+bundle.SignatureSuffix, signature, 0o644)
}

// enter is SiteFlags.Enter with the paths among the flags of a run.
func (f *runFlags) enter(ctx context.Context, e *cli.Env, name string) (leave func(*error), err error) {
	return f.SiteFlags.Enter(ctx, e, name, &f.StateDir, &f.reportFile.path, &f.out, &f.profile.file)
}

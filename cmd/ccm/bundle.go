package main

import (
	"context"
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
	"github.com/luaccm/ccm/site/bundles"
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
		Short: "Pack a site directory into one file",
		Long: `Pack a site directory into one file that ccm run and ccm plan accept instead of a
script.

  ccm bundle site/ -o site.tar.gz

A bundle contains the whole directory: scripts, data, templates, modules and files.
ccm runs its site.lua, or else manifest.yaml. With FILE instead of a directory, it
runs that script or manifest, and the bundle contains the directory of FILE. Equal
directories make identical bundles. The SHA-256 is printed in the format of sha256sum.

Excluded are the patterns of .ccmignore, as in ccm lint, and version control
directories such as .git. Links that lead out of the directory, devices, pipes and
unencrypted secrets are refused. Modules are packed at the versions in ccm.lock.

With --exe, the bundle is an executable. Its arguments are those of ccm run, or after
--ccm any command of ccm.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return diag.At(diag.Pos{}, diag.Expected("a site directory")).WithHint("%s DIR -o site.tar.gz", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: cli.CompleteFile(),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			return writeBundle(ctx, e, f, args[0])
		},
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write the bundle to `FILE` (default DIR.tar.gz; - is standard output)")
	cmd.Flags().StringArrayVar(&f.exclude, "exclude", nil, "exclude `PATTERN`, as a line in .ccmignore (repeatable)")
	cmd.Flags().StringArrayVar(&f.plain, "allow-plain", nil, "include files matching `PATTERN` that look like secrets (repeatable)")
	cmd.Flags().BoolVar(&f.exe, "exe", false, "write an executable that contains this ccm and the site")
	cmd.Flags().StringVar(&f.sign, "sign", "", "sign the bundle with this SSH `KEY`, writing FILE.sig")
	cmd.MarkFlagsMutuallyExclusive("exe", "sign")
	return cmd
}

// writeBundle packs a site into a file, and signs that if the flags ask for it.
func writeBundle(ctx context.Context, e *cli.Env, f *bundleFlags, name string) error {
	folder, err := bundles.Folder(e.Files, name, f.exclude)
	if err != nil {
		return err
	}
	out := f.out
	switch {
	case f.exe && runtime.GOOS == "darwin":
		return fmt.Errorf("--exe: %w", diag.SubjectCannot("macOS", "run modified programs"))
	case f.exe && out == "":
		return diag.Errorf(diag.Pos{}, "--exe: %w", diag.Expected("a name for the executable")).WithHint("-o FILE")
	}
	if out == "" {
		abs, err := filepath.Abs(folder.Dir)
		if err != nil {
			return err
		}
		if out = filepath.Base(abs) + ".tar.gz"; abs == "/" {
			return diag.SubjectCannot("the root directory of the machine", "be a site")
		}
	}
	if f.sign != "" && out == "-" {
		return diag.At(diag.Pos{}, fmt.Errorf("--sign: %w", diag.Cannot("write", "a signature beside standard output", nil))).WithHint("-o FILE")
	}
	if err := bundles.RefusePlain(folder, f.plain); err != nil {
		return err
	}
	var program *os.File
	if f.exe {
		if program, err = openSelf(); err != nil {
			return err
		}
		defer program.Close()
	}
	sum, digest, err := bundles.Save(ctx, folder, out, program, e.Stdout.Unwrap())
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

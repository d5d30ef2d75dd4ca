package author

import (
	"bufio"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/collector"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/studio"
)

// StudioCommand returns the command studio.
func StudioCommand(e *cli.Env) *cobra.Command {
	o := studio.Options{Process: e.Process, Linter: newLinter}
	f := &cli.SiteFlags{}
	noBrowser, asRoot, stateDir := false, false, ""
	cmd := &cobra.Command{
		Use:   "studio [DIR|FILE]",
		Short: "Design a site in the browser",
		Long: `Design scripts and manifests in the browser: choose resources from a palette, fill
in forms, and see the source, its problems and the plan beside them.

  ccm studio              the files of this directory
  ccm studio site.yaml    the same, with this file open

Studio writes files of the directory when you save them. It never applies anything
to the machine.

The page is available on this machine only. Its printed address works once and
expires after two minutes. Press Enter to print a new one.`,
		Args: cli.WantArguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "."
			if len(args) > 0 {
				name = args[0]
			}
			if os.Geteuid() == 0 && !asRoot {
				return diag.Errorf(diag.Pos{}, "studio started as root would evaluate the site as root").
					WithHint("start it as yourself, or force it with --as-root")
			}
			var err error
			if o.Directory, o.File, err = directoryAndFile(name); err != nil {
				return err
			}
			o.Site, o.StateDir = *f.SiteOptions(), state.Dir(stateDir)
			if o.Program, err = os.Executable(); err != nil {
				return err
			}
			if err := os.Chdir(o.Directory); err != nil { // as if commands were typed there
				return err
			}
			return serveStudio(cmd.Context(), e, o, !noBrowser && !asRoot)
		},
	}
	fs := cmd.Flags()
	f.Root, f.Data.ReadEnv = "/", true
	fs.StringVar(&stateDir, "state-dir", "", "state `DIR` (default CCM_STATE_DIR, /var/lib/ccm, ~/.local/state/ccm)")
	fs.StringVar(&o.Listen, "listen", "127.0.0.1:0", "local `ADDRESS` to listen on; port 0 uses a free one")
	fs.BoolVar(&noBrowser, "no-browser", false, "only print the address")
	fs.BoolVar(&asRoot, "as-root", false, "evaluate sites as root, and save files as root")
	return cmd
}

// EvaluateCommand returns the command with which studio evaluates texts in a child process.
func EvaluateCommand(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: studio.EvaluateCommand, Hidden: true, Args: cobra.NoArgs,
		Short: "Evaluate a text for ccm studio (internal)",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			return studio.Evaluate(ctx, e.Process, e.Stdin, e.Stdout.Unwrap())
		},
	}
}

// directoryAndFile returns the directory that is shown, and the file that is opened first.
func directoryAndFile(name string) (dir, file string, err error) {
	if name, err = filepath.Abs(name); err != nil {
		return "", "", err
	}
	switch fi, err := os.Stat(name); {
	case err != nil:
		return "", "", err
	case fi.IsDir():
		return name, "", nil
	case !fi.Mode().IsRegular():
		return "", "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return filepath.Dir(name), filepath.Base(name), nil
}

// serveStudio serves until an interrupt or until the page ends the server.
func serveStudio(ctx context.Context, e *cli.Env, o studio.Options, browser bool) error {
	// Each edit makes garbage of a third of the memory in use, and somebody waits for the edit.
	collector.Stay(200)
	s, err := studio.Open(ctx, o)
	if err != nil {
		return err
	}
	ctx, cancel := e.Stop.Context(ctx)
	defer cancel()
	address := s.Address()
	terminal.Fprintf(e.Stdout, "%s\n", address)
	_ = e.Stdout.Flush() // a failed write is reported at the end
	if browser && hasDisplay() {
		s.OpenBrowser(address, func(file string) error { return openFile(ctx, file) })
	}
	if terminal.IsTerminal(e.Stdin) {
		go func() { // ends with the process
			for lines := bufio.NewScanner(e.Stdin); lines.Scan(); {
				terminal.Fprintf(e.Stdout, "%s\n", s.Address())
				_ = e.Stdout.Flush()
			}
		}()
	}
	return s.Serve(ctx)
}

// hasDisplay reports whether a browser has somewhere to appear.
func hasDisplay() bool {
	return runtime.GOOS == "darwin" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// openFile opens a file with the program that the user has chosen on the desktop.
func openFile(ctx context.Context, file string) error {
	open := "xdg-open"
	if runtime.GOOS == "darwin" {
		open = "open"
	}
	return exec.CommandContext(ctx, open, file).Start()
}

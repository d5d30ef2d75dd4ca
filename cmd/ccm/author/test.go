package author

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/luaapi/spec/report"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/spec"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/bundles"
)

// testFlags are the flags of test.
type testFlags struct {
	output             *cli.Choice
	filter             string
	tags, excludedTags []string
	system             systemFlags
}

// TestCommand returns the command test.
func TestCommand(e *cli.Env) *cobra.Command {
	f := &testFlags{output: cli.NewChoice("text", report.Forms...)}
	cmd := &cobra.Command{
		Use:   "test [PATH...]",
		Short: "Test a site, in a simulation or on throw-away systems",
		Long: `Run the specs of a site: files named *_spec.lua, in the form of the Lua
test framework busted.

  ccm test
  ccm test --filter nginx spec/
  ccm test --system debian:12,rocky:9 site.lua

Specs inspect the catalogs of scripts, and apply them in an empty directory with
simulated packages, services and commands. The machine is not changed, and root is
not needed.

With --system, the site is applied to throw-away systems: plan, run, a second run that
must change nothing, health checks, specs with system = true, undo, run. PATH is the
script, manifest or directory of the site.

Exit status: 1 if a test fails.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(f.system.systems) > 0 {
				return testSystems(cmd.Context(), e, f, args)
			}
			if name := f.system.needsSystem(cmd); name != "" {
				return diag.At(diag.Pos{}, diag.Requires(fmt.Sprintf("--%s", name), "--system"))
			}
			if len(args) != 1 {
				return runSpecs(cmd.Context(), e, f, args)
			}
			return withinBundle(cmd.Context(), e, args[0], func(name string) error { return runSpecs(cmd.Context(), e, f, []string{name}) })
		},
	}
	fl := cmd.Flags()
	fl.Var(f.output, "output", "output format: text, json (one object per line), tap or junit")
	cli.AddUnsavedFlag(cmd)
	fl.StringVar(&f.filter, "filter", "", "only run tests whose full name matches the regular expression `RE`")
	fl.StringSliceVarP(&f.tags, "tags", "t", nil, "only run tests with one of these `TAGS` (each a #word in the name)")
	fl.StringSliceVar(&f.excludedTags, "exclude-tags", nil, "skip tests with one of these `TAGS`")
	f.system.add(fl)
	return cmd
}

// withinBundle calls do with the folder of an unpacked bundle, or with the name itself if that is
// no bundle.
func withinBundle(ctx context.Context, e *cli.Env, name string, do func(name string) error) (err error) {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	leave, err := bundles.Enter(ctx, e.Process, name, new(site.Options))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if now, _ := os.Getwd(); now != dir {
		name = "."
	}
	return do(name)
}

// wanted returns which tests the flags ask for.
func (f *testFlags) wanted() (func(name string, tags []string) bool, error) {
	re, err := regexp.Compile(f.filter)
	if err != nil {
		return nil, fmt.Errorf("--filter: %w", err)
	}
	has := func(list, tags []string) bool {
		return slices.ContainsFunc(list, func(t string) bool { return slices.Contains(tags, strings.TrimPrefix(t, "#")) })
	}
	return func(name string, tags []string) bool {
		return re.MatchString(name) && (len(f.tags) == 0 || has(f.tags, tags)) && !has(f.excludedTags, tags)
	}, nil
}

func runSpecs(ctx context.Context, e *cli.Env, f *testFlags, args []string) error {
	believed := e.Files.Trust().Check
	if len(args) == 0 {
		args, believed = []string{"."}, e.Files.Trust().CheckFound
	}
	wanted, err := f.wanted()
	if err != nil {
		return err
	}
	files, err := specFiles(args)
	if err != nil {
		return err
	}
	ctx, cancel := e.Stop.Context(ctx)
	defer cancel()
	rep := report.New(f.output.Value, e.Stdout, cli.Colorful(e, e.Stdout), e.Clock.Now)
	for _, file := range files {
		if ctx.Err() != nil {
			return cli.Status(cli.ExitInterrupted)
		}
		if err := believed(file); err != nil {
			return err
		}
		if err := runSpecFile(ctx, e, file, wanted, rep, nil); err != nil {
			return err
		}
	}
	if err := rep.End(); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return cli.Status(cli.ExitInterrupted)
	case rep.Failed():
		return cli.Status(cli.ExitUsage)
	}
	return nil
}

// A specReport takes the results of tests.
type specReport interface {
	Add(r spec.Result)
	AddSources(s diag.Sources)
	AddFileError(file string, err error)
}

// runSpecFile runs the tests of one file. Those about a real machine are run if there is one, and then no others.
func runSpecFile(ctx context.Context, e *cli.Env, file string, wanted func(string, []string) bool, rep specReport, machine spec.Machine) (err error) {
	text, err := e.Files.ReadFile(file)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ccm-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	if err != nil {
		return err
	}
	layer, count := reg.Layer(), 0
	scratch := func() (string, error) {
		count++
		root := filepath.Join(dir, fmt.Sprint(count))
		return root, os.Mkdir(root, 0o755)
	}
	o := spec.Options{
		Clock: e.Clock, Filter: wanted, Report: rep.Add, Registry: layer, Scratch: scratch, Imagine: site.SpecRunner, Machine: machine,
		Interp: func(extend func(*luaapi.Interp)) *luaapi.Interp {
			return site.SpecInterp(e.Process, file, modulePath(file, e.Modules), layer, extend)
		},
		Catalog: func(ctx context.Context, name string, g spec.Fixture) (spec.Catalog, error) {
			root, err := scratch()
			if err != nil {
				return nil, err
			}
			c, err := site.LoadSpec(ctx, e.Process, root, name, g)
			if c != nil {
				rep.AddSources(c.Source)
			}
			if err != nil {
				return nil, err
			}
			return c, nil
		},
	}
	sources, err := o.Run(ctx, file, text)
	rep.AddSources(sources)
	if err != nil {
		rep.AddFileError(file, err)
	}
	return nil
}

// modulePath returns the directories for modules of a spec: the directories above the file up to
// the working directory, where the modules of the site are, and then path.
func modulePath(file string, path []string) []string {
	if filepath.IsAbs(file) {
		return append([]string{filepath.Dir(filepath.Dir(file))}, path...)
	}
	var dirs []string
	for dir := filepath.Dir(filepath.Clean(file)); dir != "."; {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	return append(dirs, path...)
}

// specFiles returns the specs that the arguments name.
func specFiles(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		found, err := lint.FilesBelow(arg, "_spec.lua", nil)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, diag.At(diag.Pos{}, fmt.Errorf("%s: %w", arg, diag.None("file named *_spec.lua"))).
				WithHint("create a site with a spec: ccm init")
		}
		files = append(files, found...)
	}
	return files, nil
}

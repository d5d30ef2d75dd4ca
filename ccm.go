// Package ccm configures a machine from a Go program, as the command ccm does:
//
//	site, err := ccm.Load(ctx, "site.lua", ccm.Options{})
//	if err != nil {
//		return err // the mistakes in the script, with their positions
//	}
//	defer site.Close()
//	for event, err := range site.Run(ctx) { // or site.Plan, which changes nothing
//		if err != nil {
//			return err
//		}
//		fmt.Println(event)
//	}
//
// [Ensure] applies a single resource without a script. [NewType] makes a resource type of a Go
// struct. A program may load and run several sites at once, if each has its own state directory.
//
// This package follows semantic versions. The packages below it do not: types of theirs appear in
// [Options].Process, [Options].RunOptions, [Options].Providers and the methods Unwrap, which serve
// the command itself.
package ccm

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// Options control how a site is read, planned and run. The zero Options are those of the command
// ccm without flags, except that they read no data file and no .env from the working directory. An
// error about an option names it as the flag of the command: "--root: x is not a directory" is about
// Root.
type Options struct {
	// Root is the directory used as /; "" for / itself. Nothing outside it is changed.
	Root string
	// StateDir is the directory for history, backups and the lock; "none" keeps nothing. If it is
	// empty, it is CCM_STATE_DIR of the environment, else /var/lib/ccm below Root. Without Root, it
	// is ~/.local/state/ccm for other users than root.
	StateDir string
	// Args are the arguments of the script.
	Args []string
	// Facts override facts of the machine. Maps are merged. Values here and in Data are texts,
	// booleans, numbers, slices and maps with texts as keys.
	Facts map[string]any
	// Data overrides the data of the site. Maps are merged. Texts may hold expressions, as in a
	// data file.
	Data map[string]any
	// DataFile is a file or URL with further data; "" for none.
	DataFile string
	// Secrets are texts that are masked in all output and in all records.
	Secrets []string
	// Types are resource types of this program; see [NewType].
	Types []Type
	// Providers are further providers of the types that ship with ccm.
	Providers []resource.Binding
	// Targets are resources as TYPE#NAME, in which * and ** represent any text. Only these and
	// those that they require are planned and run. Without Targets and Tags, all are.
	Targets []string
	// Tags select resources like Targets, by their tags. Resources with one of SkipTags are left
	// out.
	Tags, SkipTags []string
	// Strict makes warnings mistakes.
	Strict bool
	// Noop means that the site is only planned: ccm.noop is true in scripts, [Site.Run] is
	// [Site.Plan], and no lock is taken.
	Noop bool
	// CheckIdempotent plans again after a run without failures. What a second run would change
	// is an error of [Site.Run].
	CheckIdempotent bool
	// EvalTimeout limits the evaluation of a script or manifest, and the time to read each file.
	// 0 means a minute.
	EvalTimeout time.Duration
	// Timeout limits a run. 0 means no limit.
	Timeout time.Duration
	// LockTimeout is how long a run waits for another one with the same state directory. 0 means
	// that it does not wait.
	LockTimeout time.Duration
	// Output takes what scripts print, without secrets. Nil discards it.
	Output io.Writer
	// Warn is called with each warning. May be nil.
	Warn func(*Mistake)
	// Log takes what commands print, and each effect on the machine at the level of debugging.
	// Nil discards it.
	Log *slog.Logger

	// Process and RunOptions have what the command ccm adds, such as its signals. They do not
	// follow semantic versions. The fields above override those of RunOptions that they cover.
	Process    *site.Process
	RunOptions *site.RunOptions
}

// Load reads a script or manifest, evaluates it and checks all of its resources. Nothing is changed.
// The error has all mistakes in it, see [Mistakes].
//
// Unless Options.Noop is set, the site holds the lock of the state directory, if that exists and is
// free, until [Site.Close] or the end of [Site.Run].
func Load(ctx context.Context, file string, o Options) (*Site, error) {
	return load(ctx, file, o.process(), o)
}

// LoadText is [Load] for a text that is not in a file. Positions use the name as that of the file. A manifest has the
// ending .yaml or .yml; everything else is a script. The directory of the name has the modules and templates of the
// site.
func LoadText(ctx context.Context, name, text string, o Options) (*Site, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	p := o.process()
	p.Files.EditedText = func(file string) (string, bool) { return text, file == path }
	return load(ctx, name, p, o)
}

func load(ctx context.Context, file string, p *site.Process, o Options) (*Site, error) {
	run, err := o.run(p)
	if err != nil {
		return nil, err
	}
	s := &Site{process: p, output: o.output(p), own: o.Process == nil}
	inner, during := s.detach(ctx)
	defer during()
	run.ID = cmp.Or(run.ID, state.NewRunID(o.StateDir, p.Clock))
	if s.own {
		p.Messages.W = terminal.NewWriter(s.output)
		p.Files.SetContext(inner)
		run.Explain = s.explain
	}
	r, err := p.ReadRun(inner, file, o.Args, run)
	_ = s.output.Flush() // the program knows whether its writer fails
	if err != nil {
		s.release()
		return nil, placed(err, p.Secrets)
	}
	s.run = r
	return s, nil
}

// process returns the process of the options, or a new one.
func (o *Options) process() *site.Process {
	if o.Process != nil {
		return o.Process
	}
	m := &site.Messages{W: terminal.NewWriter(io.Discard)}
	p := &site.Process{
		Clock: host.RealClock{}, Commands: new(command.Commands), Stdin: new(bytes.Reader),
		Files: &site.Files{Messages: m}, Messages: m, Log: o.Log, Version: version(),
	}
	p.Secrets = secret.New(func() ([]byte, error) { return p.Files.ReadKey(o.StateDir) })
	m.Warning = func(d *diag.Error) {
		if o.Warn != nil {
			o.Warn(mistake(d, p.Secrets))
		}
	}
	return p
}

// output returns the writer for what scripts print.
func (o *Options) output(p *site.Process) *secret.Writer {
	w := o.Output
	if w == nil {
		w = io.Discard
	}
	return secret.NewWriter(w, p.Secrets)
}

// run gives a process what the options have for it, and returns the rest for a run.
func (o *Options) run(p *site.Process) (*site.RunOptions, error) {
	for _, t := range o.Types {
		if t.err != nil {
			return nil, t.err
		}
		p.Providers = append(p.Providers, t.binding)
	}
	p.Providers = append(p.Providers, o.Providers...)
	for i, text := range o.Secrets {
		if err := p.Secrets.Add(text); err != nil {
			return nil, fmt.Errorf("secret %d of Options.Secrets: %w", i+1, err)
		}
	}
	facts, err := plainMap("Options.Facts", o.Facts)
	if err != nil {
		return nil, err
	}
	data, err := plainMap("Options.Data", o.Data)
	if err != nil {
		return nil, err
	}
	r := new(site.RunOptions)
	if o.RunOptions != nil {
		*r = *o.RunOptions
	}
	if r.Site == nil {
		r.Site = &site.Options{Data: site.DataOptions{None: o.DataFile == "", File: o.DataFile}}
		r.Record.Limits = state.DefaultLimits
		r.Host.Log = o.Log
		r.Texts = true
	}
	s := r.Site
	if o.StateDir, err = p.State.Choose(o.StateDir, &site.Options{Root: o.Root}); err != nil {
		return nil, err
	}
	s.Root, s.EvalTimeout, s.Strict = o.Root, cmp.Or(o.EvalTimeout, time.Minute), o.Strict
	s.Facts.Values, s.Data.Values = facts, data
	s.Part.Targets, s.Part.Tags, s.Part.SkipTags = o.Targets, o.Tags, o.SkipTags
	r.Record.Root, r.Record.StateDir, r.Record.Timeout, r.Record.LockTimeout = o.Root, o.StateDir, o.Timeout, o.LockTimeout
	r.Plan, r.CheckIdempotent = o.Noop, o.CheckIdempotent
	return r, nil
}

// version returns the version of this module in the program.
func version() string {
	const module = "github.com/luaccm/ccm"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return cmp.Or(info.Main.Version, "(devel)")
}

// Facts returns the facts of the machine, such as facts["os"], as scripts see them with the options.
func Facts(ctx context.Context, o Options) (map[string]any, error) {
	p := o.process()
	run, err := o.run(p)
	if err != nil {
		return nil, err
	}
	p.Files.SetContext(ctx)
	all, err := p.Facts(ctx, &p.Host(o.Root).View, run.Site.Facts)
	if err != nil {
		return nil, placed(err, p.Secrets)
	}
	tree, err := all.Tree()
	return maps.Clone(tree), err
}

// Ensure applies one resource, or plans it if Options.Noop is set. The properties are those of scripts, without
// the name; texts are taken as they are, and a mode may be a number such as 0o644. A failed resource is an
// [ErrFailed]. With any other error, nothing was changed.
func Ensure(ctx context.Context, typ, name string, properties map[string]any, o Options) (Event, error) {
	p := o.process()
	run, err := o.run(p)
	if err != nil {
		return Event{}, err
	}
	given, err := plainMap("properties", properties)
	if err != nil {
		return Event{}, err
	}
	s := &Site{process: p, own: o.Process == nil}
	inner, during := s.detach(ctx)
	defer during()
	defer s.release()
	p.Files.SetContext(inner)
	one, err := p.NewOneOff(inner, site.OneOffOptions{
		Kind: "ensure", Site: run.Site, Record: run.Record, Host: run.Host, Plan: o.Noop, Explain: s.explain,
	})
	if err != nil {
		return Event{}, placed(err, p.Secrets)
	}
	defer one.Close()
	types, err := one.Registry()
	if err != nil {
		return Event{}, err
	}
	t := types.Type(typ)
	if t == nil {
		return Event{}, placed(site.UnknownType(types, typ), p.Secrets)
	}
	for name, v := range given {
		if f := t.Schema().Field(name); f != nil && f.KindOfValue() == "mode" {
			if bits, ok := v.(int64); ok { // Go, unlike Lua, has octal numbers
				given[name] = fmt.Sprintf("%04o", bits)
			}
		}
	}
	table := schema.ValueOf(given).Table()
	table.Set(t.Schema().Name().Name, schema.StringValue(name))
	result, err := one.Converge(inner, manifest.Single{Type: t, Properties: table, Literal: true}, nil)
	if err != nil {
		return Event{}, placed(err, p.Secrets)
	}
	var own Event
	for _, e := range result.Events { // the others are of resources that it applies
		if e.Fails() {
			s.note(e)
		}
		if e.Resource.Type == t && e.Resource.ID.Name == name || own.record == nil {
			own = newEvent(e)
		}
	}
	return own, s.failure(ctx, result.Summary)
}

package cli

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/nats"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// SiteFlags are the flags of every command that reads a script or manifest.
type SiteFlags struct {
	site.Options
	dialect *Choice
}

// Add adds the flags to fs.
func (f *SiteFlags) Add(fs *pflag.FlagSet) {
	fs.StringVar(&f.Root, "root", "/", "use `DIR` as the root directory")
	fs.BoolVar(&f.Offline, "offline", false, "for images: do not start services or load sysctls and drivers")
	fs.StringArrayVar(&f.Facts.Assignments, "fact", nil, "set fact `NAME=VALUE` for this run (repeatable)")
	fs.StringVar(&f.Facts.File, "facts", "", "read additional facts from `FILE` (JSON or YAML)")
	DurationVar(fs, &f.EvalTimeout, "eval-timeout", time.Minute, "time limit for evaluating a script")
	fs.BoolVar(&f.Strict, "strict", false, "treat warnings as errors")
	f.dialect = NewChoice("", "ccm", "tinycm")
	fs.Var(f.dialect, "dialect", "manifest dialect: ccm or tinycm (default: tinycm for *.cm.yml)")
	AddDataFlags(fs, &f.Data)
	fs.StringArrayVar(&f.Part.Targets, "target", nil, "only `TYPE#NAME` (* is a wildcard) and its requirements (repeatable)")
	fs.StringArrayVar(&f.Part.Tags, "tags", nil, "only resources with one of `TAGS` and their requirements (repeatable)")
	fs.BoolVar(&f.Part.WithDependents, "with-dependents", false, "with --target or --tags: also apply dependents, and what they require")
	fs.StringArrayVar(&f.Part.SkipTags, "skip-tags", nil, "skip resources with one of these `TAGS` (repeatable)")
}

// AddWithDataFlag adds the flag about data in what is removed.
func (f *SiteFlags) AddWithDataFlag(fs *pflag.FlagSet) {
	fs.BoolVar(&f.WithData, "with-data", false, "in directories to be removed, also remove what ccm did not create")
}

// Set replaces the options of the flags.
func (f *SiteFlags) Set(o *site.Options) { f.Options, f.dialect = *o, nil }

// SiteOptions returns the options that the flags set.
func (f *SiteFlags) SiteOptions() *site.Options {
	if f.dialect != nil {
		f.Dialect = f.dialect.Value
	}
	return &f.Options
}

// AddDataFlags adds the flags about which data and which environment expressions
// see.
func AddDataFlags(fs *pflag.FlagSet, o *site.DataOptions) {
	fs.StringVar(&o.File, "data", "", "hierarchy (see ccm docs data): `FILE` or URL (default "+site.DataVariable+", then ./"+site.DefaultData+")")
	fs.StringVar(&o.File, "hiera", "", "same as --data")
	fs.Lookup("hiera").Hidden = true
	fs.StringVar(&o.Context, "context", "", "nats CLI context `NAME` (default $"+nats.ContextVariable+", else "+nats.DefaultContext+")")
	AddStreamFlag(fs, o)
	fs.BoolVar(&o.None, "no-data", false, "ignore "+site.DataVariable+" and ./"+site.DefaultData)
	fs.StringVar(&o.EnvFile, "env-file", "", "environment variables for expressions: `FILE` (default ./"+site.DotenvFile+")")
	fs.BoolVar(&o.ReadEnv, "read-env", true, "read environment variables for expressions from ./"+site.DotenvFile)
	fs.Var(negation{&o.ReadEnv}, "no-read-env", "ignore ./"+site.DotenvFile)
	fs.Lookup("no-read-env").NoOptDefVal = "true"
}

// A negation is the --no- form of a boolean flag.
type negation struct{ of *bool }

// String implements pflag.Value.
func (negation) String() string { return "" }

// Type implements pflag.Value.
func (negation) Type() string { return "bool" }

// Set implements pflag.Value.
func (n negation) Set(s string) error {
	if s != "true" {
		return errors.New("does not take a value")
	}
	*n.of = false
	return nil
}

// RecordFlags are the flags of commands that change the machine and record the changes.
type RecordFlags struct {
	StateDir    string
	LockTimeout time.Duration
	Timeout     time.Duration
	backupSize  resources.Size
	backupAge   time.Duration
}

// Add adds the flags to fs.
func (f *RecordFlags) Add(fs *pflag.FlagSet) {
	AddSudoFlag(fs)
	f.backupSize = resources.Size(state.DefaultLimits.Bytes)
	DurationVar(fs, &f.Timeout, "timeout", 0, "time limit for the run (0 means none)")
	fs.Func("backup-size", "maximum `SIZE` of all backups (default "+f.backupSize.String()+")",
		func(text string) error { return f.backupSize.UnmarshalText([]byte(text)) })
	DurationVar(fs, &f.backupAge, "backup-age", state.DefaultLimits.Age, "maximum age of runs and their backups")
}

// Limits returns the limits of the kept runs and backups.
func (f *RecordFlags) Limits() state.Limits {
	limits := state.DefaultLimits
	if f.backupSize > 0 {
		limits.Bytes = int64(f.backupSize)
		limits.Object = max(limits.Object, limits.Bytes/8)
	}
	if f.backupAge > 0 {
		limits.Age = f.backupAge
	}
	return limits
}

// RecordOptions returns the options that the flags set, for a run with site options.
func (f *RecordFlags) RecordOptions(o *site.Options) site.RecordOptions {
	return site.RecordOptions{StateDir: f.StateDir, LockTimeout: f.LockTimeout, Timeout: f.Timeout, Limits: f.Limits(), Root: o.Root, Offline: o.Offline}
}

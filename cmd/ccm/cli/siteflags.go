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
	fs.StringVar(&f.Root, "root", "/", "use `DIR` as the root directory, and act on nothing outside it")
	fs.BoolVar(&f.Offline, "offline", false, "build an image: start no service, leave the running kernel alone")
	fs.StringArrayVar(&f.Facts.Assignments, "fact", nil, "set the fact `NAME=VALUE` for this run (repeatable)")
	fs.StringVar(&f.Facts.File, "facts", "", "read further facts from `FILE` (JSON or YAML)")
	fs.DurationVar(&f.EvalTimeout, "eval-timeout", time.Minute, "how long a script may take to evaluate")
	fs.BoolVar(&f.Strict, "strict", false, "take what a script or manifest is warned of for an error, such as a property that is nil")
	f.dialect = NewChoice("", "ccm", "tinycm")
	fs.Var(f.dialect, "dialect", "of a manifest: ccm or tinycm (default: tinycm for *.cm.yml, else ccm)")
	AddDataFlags(fs, &f.Data)
	fs.StringArrayVar(&f.Part.Targets, "target", nil, "only this resource, as `TYPE#NAME`, and what it requires; * and ** stand for any text (repeatable)")
	fs.StringArrayVar(&f.Part.Tags, "tags", nil, "only resources with one of these `TAGS`, as web,db, and what they require (repeatable)")
	fs.BoolVar(&f.Part.WithDependents, "with-dependents", false, "with --target or --tags: also what requires these, and all that that requires")
	fs.StringArrayVar(&f.Part.SkipTags, "skip-tags", nil, "leave out resources with one of these `TAGS` (repeatable)")
}

// AddWithDataFlag adds the flag about data in what is removed.
func (f *SiteFlags) AddWithDataFlag(fs *pflag.FlagSet) {
	fs.BoolVar(&f.WithData, "with-data", false, "also remove data that no run has created")
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
	fs.StringVar(&o.File, "data", "", "read data from the hierarchy document `FILE`, or from a URL: https://, kv://BUCKET/KEY or obj://BUCKET/KEY (default "+site.DataVariable+", else ./"+site.DefaultData+" if it is there)")
	fs.StringVar(&o.File, "hiera", "", "the same as --data")
	fs.Lookup("hiera").Hidden = true
	fs.StringVar(&o.Context, "context", "", "read kv://, obj:// and the registry with this context `NAME` of the nats tool (default "+nats.ContextVariable+", else "+nats.DefaultContext+")")
	AddStreamFlag(fs, o)
	fs.BoolVar(&o.None, "no-data", false, "read no data, neither from "+site.DataVariable+" nor from ./"+site.DefaultData)
	fs.StringVar(&o.EnvFile, "env-file", "", "read environment variables for expressions from `FILE` (default ./"+site.DotenvFile+" if it is there)")
	fs.BoolVar(&o.ReadEnv, "read-env", true, "read environment variables for expressions from ./"+site.DotenvFile)
	fs.Var(negation{&o.ReadEnv}, "no-read-env", "leave ./"+site.DotenvFile+" alone")
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
		return errors.New("it takes no value")
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
	fs.DurationVar(&f.Timeout, "timeout", 0, "end the run after this long; 0 means never")
	fs.Func("backup-size", "how much the backups of all runs may take, as a `SIZE` such as 500MiB (default "+f.backupSize.String()+")",
		func(text string) error { return f.backupSize.UnmarshalText([]byte(text)) })
	fs.DurationVar(&f.backupAge, "backup-age", state.DefaultLimits.Age, "how long runs and their backups are kept")
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

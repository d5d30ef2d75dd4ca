package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/manifest"
)

// Where data is read from if nothing else is said.
const (
	dataVariable = "CCM_HIERA_DATA"
	defaultData  = ".hiera"
	dotenvFile   = ".env"
)

// dataFlags say which data and which environment expressions see.
type dataFlags struct {
	file    string
	none    bool // no data is read
	envFile string
	readEnv bool
	site    string // the script or manifest that was named, "" if none was
}

func (f *dataFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.file, "data", "", "read data from the hierarchy document `FILE` (default "+dataVariable+", else ./"+defaultData+" if it is there)")
	fs.StringVar(&f.file, "hiera", "", "the same as --data")
	fs.Lookup("hiera").Hidden = true
	fs.BoolVar(&f.none, "no-data", false, "read no data, neither from "+dataVariable+" nor from ./"+defaultData)
	fs.StringVar(&f.envFile, "env-file", "", "read environment variables for expressions from `FILE` (default ./"+dotenvFile+" if it is there)")
	fs.BoolVar(&f.readEnv, "read-env", true, "read environment variables for expressions from ./"+dotenvFile)
	fs.Var(negation{&f.readEnv}, "no-read-env", "leave ./"+dotenvFile+" alone")
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

// environ returns the environment that expressions see: that of the process, and
// over it that of the file that the flag names, or of ./.env.
func (e *env) environ(f *dataFlags) (map[string]string, error) {
	env := environ()
	var text []byte
	var err error
	name := f.envFile
	switch {
	case name != "":
		text, err = e.readFile(name)
	case !f.readEnv:
		return env, nil
	default:
		name = dotenvFile
		text, err = e.readFound(name, f.site, "--env-file "+dotenvFile+" reads it, --no-read-env leaves it alone")
		if errors.Is(err, fs.ErrNotExist) {
			return env, nil
		}
	}
	if err != nil {
		return nil, err
	}
	own, err := facts.ParseEnv(name, string(text))
	maps.Copy(env, own)
	return env, err
}

// source returns the hierarchy document that data is read from; one without text
// if there is none.
func (e *env) source(f *dataFlags) (manifest.Source, error) {
	name := f.file
	switch {
	case f.none && name != "":
		return manifest.Source{}, errors.New("--data and --no-data exclude each other")
	case f.none:
		return manifest.Source{File: defaultData}, nil
	}
	if name == "" {
		name = os.Getenv(dataVariable)
	}
	if name == "" {
		text, err := e.readFound(defaultData, f.site, "--data "+defaultData+" reads it, --no-data goes without")
		if errors.Is(err, fs.ErrNotExist) {
			return manifest.Source{File: defaultData}, nil
		}
		return manifest.Source{File: defaultData, Text: string(text)}, err
	}
	text, err := e.readFile(name)
	return manifest.Source{File: name, Text: string(text)}, err
}

// dataOf returns the data that the flags name, resolved.
func (e *env) dataOf(f *dataFlags, fs *facts.Facts, h *host.Host) (map[string]any, error) {
	src, err := e.source(f)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	vars, err := e.environ(f)
	if err != nil {
		return nil, err
	}
	l := &manifest.Loader{Facts: fs, Environ: vars, ReadFile: e.readFile, Now: h.Now, Secrets: e.secrets}
	e.sources = l.Sources()
	return l.Data(src, nil)
}

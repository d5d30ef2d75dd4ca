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
	readEnv bool
}

func (f *dataFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.file, "data", "", "read data from the hierarchy document `FILE` (default "+dataVariable+", else ./"+defaultData+" if it is there)")
	fs.StringVar(&f.file, "hiera", "", "the same as --data")
	fs.Lookup("hiera").Hidden = true
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
// over it that of ./.env.
func (f *dataFlags) environ(trust *host.Trust) (map[string]string, error) {
	env := environ()
	if !f.readEnv {
		return env, nil
	}
	text, err := trust.ReadFile(dotenvFile)
	if errors.Is(err, fs.ErrNotExist) {
		return env, nil
	}
	if err != nil {
		return nil, err
	}
	own, err := facts.ParseEnv(dotenvFile, string(text))
	maps.Copy(env, own)
	return env, err
}

// source returns the hierarchy document that data is read from; one without text
// if there is none.
func (f *dataFlags) source(trust *host.Trust) (manifest.Source, error) {
	name := f.file
	if name == "" {
		name = os.Getenv(dataVariable)
	}
	if name == "" {
		text, err := trust.ReadFile(defaultData)
		if errors.Is(err, fs.ErrNotExist) {
			return manifest.Source{File: defaultData}, nil
		}
		return manifest.Source{File: defaultData, Text: string(text)}, err
	}
	text, err := trust.ReadFile(name)
	return manifest.Source{File: name, Text: string(text)}, err
}

// dataOf returns the data that the flags name, resolved.
func (e *env) dataOf(f *dataFlags, fs *facts.Facts, h *host.Host) (map[string]any, error) {
	src, err := f.source(e.trust())
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	vars, err := f.environ(e.trust())
	if err != nil {
		return nil, err
	}
	l := &manifest.Loader{Facts: fs, Environ: vars, ReadFile: e.readFile, Now: h.Now, Secrets: e.secrets}
	e.sources = l.Sources()
	return l.Data(src, nil)
}

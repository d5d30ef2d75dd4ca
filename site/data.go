package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/site/remote"
)

// Default sources of data.
const (
	DataVariable = "CCM_HIERA_DATA"
	DefaultData  = ".hiera"
	DotenvFile   = ".env"
)

// environ returns the environment for expressions: that of the process, overridden by the named
// file or ./.env.
func (o *DataOptions) environ(files *Files) (map[string]string, error) {
	env := Environ()
	var text []byte
	var err error
	name := o.EnvFile
	switch {
	case name != "":
		text, err = files.ReadFile(name)
	case !o.ReadEnv:
		return env, nil
	default:
		name = DotenvFile
		text, err = files.ReadFound(name, o.Site, "--env-file "+DotenvFile+" reads it, --no-read-env ignores it")
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

// read returns the hierarchy document of the data; its text is empty if there is none.
func (o *DataOptions) read(p *Process) (manifest.Source, error) {
	name := o.File
	switch {
	case o.None && name != "":
		return manifest.Source{}, diag.Conflicting("--data", "--no-data")
	case o.None:
		return manifest.Source{File: DefaultData}, nil
	}
	if name == "" {
		name = os.Getenv(DataVariable)
	}
	if name == "" {
		text, err := p.Files.ReadFound(DefaultData, o.Site, "--data "+DefaultData+" reads it, --no-data ignores it")
		if errors.Is(err, fs.ErrNotExist) {
			return manifest.Source{File: DefaultData}, nil
		}
		return manifest.Source{File: DefaultData, Text: string(text)}, err
	}
	if remote.IsName(name) {
		shown, text, err := p.readRemote(name, o.Context)
		if err != nil {
			return manifest.Source{}, fmt.Errorf("%s: %w", shown, err)
		}
		return manifest.Source{File: shown, Text: string(text)}, nil
	}
	name = strings.TrimPrefix(name, "file://")
	text, err := p.Files.ReadFile(name)
	return manifest.Source{File: name, Text: string(text)}, err
}

// overlays returns the hierarchy documents of the data, the most specific one last.
func (o *DataOptions) overlays(p *Process) (list []manifest.Source, err error) {
	src, err := o.read(p)
	if err != nil {
		return nil, err
	}
	if src.Text != "" {
		list = append(list, src)
	}
	if len(o.Values) > 0 {
		text, err := json.Marshal(map[string]any{"data": o.Values})
		if err != nil {
			return nil, err
		}
		list = append(list, manifest.Source{File: "values of the program", Text: string(text)})
	}
	return list, nil
}

// Loader returns the loader that resolves data. Expressions in the data see the facts, and the
// environment of the options.
func (o *DataOptions) Loader(p *Process, fs *facts.Facts) (*manifest.Loader, error) {
	vars, err := o.environ(p.Files)
	if err != nil {
		return nil, err
	}
	l := &manifest.Loader{Facts: fs, Environ: vars, ReadFile: p.Files.ReadFile, Now: p.Clock.Now, Secrets: p.Secrets, Open: p.decryption().value}
	p.Messages.Sources = l.Sources()
	return l, nil
}

// Resolve returns the resolved data.
func (o *DataOptions) Resolve(p *Process, fs *facts.Facts) (map[string]any, error) {
	src, err := o.read(p)
	if err != nil {
		return nil, diag.About("data", err)
	}
	l, err := o.Loader(p, fs)
	if err != nil {
		return nil, err
	}
	return l.Data(src, nil)
}

package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/state"
)

// Facts returns the facts of the machine. They are overridden by those of the configuration
// directories, then of the file, then of the assignments.
func (p *Process) Facts(ctx context.Context, v *host.View, o FactOptions) (*facts.Facts, error) {
	if o.Facts != nil {
		return o.Facts, nil
	}
	loader := facts.Loader{View: v, YAML: decodeYAML, Trust: p.Files.Trust()}
	over, err := ownFacts(loader)
	if err != nil {
		return nil, err
	}
	if o.File != "" {
		within, cancel := p.Files.readContext()
		tree, err := loader.File(within, o.File)
		cancel()
		if err = p.Stop.Interruption(within, err); err != nil {
			return nil, err
		}
		over = facts.Merge(over, tree)
	}
	for _, a := range o.Assignments {
		tree, err := facts.ParseAssignment(a)
		if err != nil {
			return nil, fmt.Errorf("--fact: %w", err)
		}
		over = facts.Merge(over, tree)
	}
	if o.Values != nil {
		over = facts.Merge(over, o.Values)
	}
	list := gatherers(p.ObserveLook)
	for i, g := range list {
		if g.CacheTime > 0 {
			list[i].Gather = p.cachedFact(g, filepath.Join(state.CacheDir(), "facts"))
		}
	}
	return facts.New(ctx, v, list, over.(map[string]any)), nil
}

// decodeYAML decodes a YAML document into plain values.
func decodeYAML(file string, text []byte) (any, error) {
	doc, err := data.Parse(file, string(text))
	if err != nil {
		return nil, err
	}
	return doc.Root.Go(), nil
}

// ownFacts reads the configuration directory of the machine, overridden by that of the user. The
// root does not apply to the latter (XDG Base Directory Specification).
func ownFacts(loader facts.Loader) (any, error) {
	tree, err := loader.Load("/etc/ccm")
	if err != nil {
		return nil, err
	}
	dir := UserConfig()
	if dir == "" {
		return tree, nil
	}
	if err := loader.Trust.CheckFound(dir); err != nil && loader.Trust.Check(dir) == nil {
		// su and sudo may leave HOME set to another user's directory: those facts do not count.
		loader.View.Log().Warn("custom facts skipped: " + err.Error())
		return tree, nil
	}
	loader.View = &host.New(host.Options{Log: loader.View.Log()}).View
	own, err := loader.Load(dir)
	if errors.Is(err, fs.ErrPermission) {
		loader.View.Log().Warn("custom facts skipped: " + err.Error())
		return tree, nil
	}
	return facts.Merge(tree, own), err
}

// UserConfig returns the configuration directory of the user, "" if there is none.
func UserConfig() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ccm")
	}
	if home := os.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "ccm")
	}
	return ""
}

package choria

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// runPost runs the commands of post on the rendered files, and reads their new owners and
// permissions. Other files that a command creates are not part of the scaffold.
func (r *rendering) runPost(ctx context.Context, want resources.Scaffold, run runner) error {
	for i := range r.files {
		f := &r.files[i]
		ran := false
		for _, step := range want.Post {
			for _, glob := range slices.Sorted(maps.Keys(step)) {
				if ok, err := path.Match(glob, path.Base(f.Rel)); err != nil || !ok {
					continue // Validate has refused invalid patterns
				}
				ran = true
				if err := postFile(ctx, run, step[glob], r.path(f.Rel)); err != nil {
					return fmt.Errorf("post-processing %s: %w", f.Rel, err)
				}
			}
		}
		if !ran {
			continue
		}
		info, err := r.scratch.Info(path.Join(targetDir, f.Rel))
		if err != nil {
			return err
		}
		if info.Kind != safepath.Regular {
			return fmt.Errorf("post-processing %s: %w", f.Rel, diag.Expected("a file afterwards").Found("%s", info.Kind))
		}
		f.Info = info
	}
	return nil
}

// postFile runs one command on one file.
func postFile(ctx context.Context, run runner, command, file string) error {
	argv, err := resource.SplitWords(command)
	if err != nil {
		return err
	}
	placed := false
	for i, word := range argv[1:] {
		if strings.Contains(word, "{}") {
			argv[i+1], placed = strings.ReplaceAll(word, "{}", file), true
		}
	}
	if !placed {
		argv = append(argv, file)
	}
	cmd := host.Cmd{Argv: argv, KeepLocale: true}
	res, err := run(ctx, cmd)
	if err != nil {
		return err
	}
	return res.Err(cmd)
}

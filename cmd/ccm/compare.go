package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/git"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/site"
)

// listPlan prints a plan as Markdown, or how it differs from that of another version of the site.
func listPlan(ctx context.Context, e *cli.Env, f *runFlags, args []string) (err error) {
	list, sum, err := f.list(ctx, e, args, "")
	if err != nil {
		return err
	}
	if f.compare == "" {
		list.Markdown("ccm plan "+args[0], sum)
		return exitStatus(sum, f.detailed)
	}
	dir, err := os.MkdirTemp("", "ccm-compare-")
	if err != nil {
		return fmt.Errorf("--compare: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, err := otherVersion(ctx, args[0], f.compare, dir)
	if err != nil {
		return fmt.Errorf("--compare: %w", err)
	}
	earlier, _, err := f.list(ctx, e, append([]string{file}, args[1:]...), dir+"/")
	if err != nil {
		return err
	}
	differences := list.Compare(earlier)
	if f.output.Value == outputMarkdown {
		differences.Markdown("ccm plan "+args[0], f.compare)
	} else {
		differences.Print(f.compare)
	}
	code, _ := exitStatus(sum, false).(cli.Status)
	if f.detailed && differences.Differs() {
		code |= cli.ExitChanges
	}
	return code.Err()
}

// list plans a site. Remove is left out of the descriptions.
func (f *runFlags) list(ctx context.Context, e *cli.Env, args []string, remove string) (*report.Listing, event.Summary, error) {
	list := &report.Listing{Remove: remove, Text: report.Text{W: e.Stdout, Verbose: f.verbose, Diff: report.DiffMode(f.diff.Value), DiffLines: int(f.diffLines)}}
	run, err := e.OpenRun(ctx, args[0], args[1:], &site.RunOptions{
		ID: e.NewRunID(f.StateDir), Site: f.SiteFlags.SiteOptions(), Record: f.RecordFlags.RecordOptions(&f.Options),
		Host: site.HostOptions{Log: cli.NewLogger(e, e.Stderr, f.debug)},
		Plan: true, Texts: f.diff.Value != string(report.DiffOff), Reporters: []event.Reporter{list},
	})
	if err != nil {
		return nil, event.Summary{}, err
	}
	defer run.End()
	return list, run.Converge(ctx), nil
}

// otherVersion returns the path of another version of a script or manifest: in a folder or file, or in a commit of the
// git repository of the file, whose files it writes below dir.
func otherVersion(ctx context.Context, file, version, dir string) (string, error) {
	if info, err := os.Stat(version); err == nil {
		if !info.IsDir() {
			return version, nil
		}
		for _, name := range []string{file, filepath.Base(file)} {
			if other := filepath.Join(version, name); !filepath.IsAbs(name) && isFile(other) {
				return other, nil
			}
		}
		return "", diag.Errorf(diag.Pos{}, "%s does not exist in %s", filepath.Base(file), version)
	}
	if strings.HasPrefix(version, "-") {
		return "", diag.Errorf(diag.Pos{}, "not a commit or directory: %q", version)
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", err
	}
	ask := func(args ...string) (string, error) {
		argv := git.Argv("", append([]string{"-C", filepath.Dir(real), "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)...)
		argv = slices.Insert(argv, slices.Index(argv, "git"), "GIT_INDEX_FILE="+filepath.Join(dir, "index"))
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), git.Environment(false)...)
		var out, problem bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &problem
		if err := cmd.Run(); err != nil {
			return "", diag.Errorf(diag.Pos{}, "git %s: %s", args[0], strings.TrimSpace(problem.String()))
		}
		return strings.TrimSpace(out.String()), nil
	}
	prefix, err := ask("rev-parse", "--show-prefix")
	if err != nil {
		return "", fmt.Errorf("%s is not a directory, and the repository of %s cannot be read: %w", version, file, err)
	}
	commit, err := ask("rev-parse", "--verify", "--quiet", version+"^{commit}")
	if err != nil {
		return "", diag.Errorf(diag.Pos{}, "no such commit, branch or tag: %q", version).WithHint("fetch those of a remote with: git fetch")
	}
	if _, err := ask("read-tree", commit); err != nil {
		return "", err
	}
	tree := filepath.Join(dir, "site")
	if _, err := ask("checkout-index", "--all", "--prefix="+tree+"/"); err != nil {
		return "", err
	}
	other := filepath.Join(tree, prefix, filepath.Base(real))
	if !isFile(other) {
		return "", diag.Errorf(diag.Pos{}, "%s does not exist in %s", filepath.Join(prefix, filepath.Base(real)), version)
	}
	return other, nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

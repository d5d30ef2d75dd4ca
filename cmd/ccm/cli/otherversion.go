package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/git"
)

// OtherVersion returns the path of another version of a script or manifest: in a folder or file, or in a commit of the
// git repository of the file, whose files it writes below dir.
func OtherVersion(ctx context.Context, file, version, dir string) (string, error) {
	if info, err := os.Stat(version); err == nil {
		if !info.IsDir() {
			return version, nil
		}
		for _, name := range []string{file, filepath.Base(file)} {
			if other := filepath.Join(version, name); !filepath.IsAbs(name) && isFile(other) {
				return other, nil
			}
		}
		return "", diag.At(diag.Pos{}, diag.Missing(filepath.Base(file), "in %s", version))
	}
	if strings.HasPrefix(version, "-") {
		return "", diag.At(diag.Pos{}, diag.Not("", "a commit or directory: %q", version))
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
		return "", diag.Not(version, "a directory, and the repository of %s cannot be read: %w", file, err)
	}
	commit, err := ask("rev-parse", "--verify", "--quiet", version+"^{commit}")
	if err != nil {
		return "", diag.At(diag.Pos{}, diag.NotFound("commit, branch or tag", version, nil)).
			WithHint("fetch those of a remote with: git fetch")
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
		return "", diag.At(diag.Pos{}, diag.Missing(filepath.Join(prefix, filepath.Base(real)), "in %s", version))
	}
	return other, nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

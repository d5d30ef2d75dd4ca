package resolve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/git"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/module"
)

// gitTimeout limits one command of git.
const gitTimeout = 10 * time.Minute

// git runs the git program with the settings of the user, so that their credentials and proxies are used.
func (r *Resolver) git(ctx context.Context, dir string, args ...string) (string, error) {
	plain := r.Policy == nil || slices.ContainsFunc(args, func(s string) bool { return strings.HasPrefix(s, "http://") })
	cmd := host.Cmd{Argv: git.Argv(dir, args...), Env: git.Environment(plain), Timeout: gitTimeout}
	res, err := r.Host.Query(ctx, cmd)
	if err != nil {
		return "", err
	}
	if res.Code == 127 {
		return "", diag.At(diag.Pos{}, diag.ProgramNotFound("git")).WithHint("install git, or fetch modules on another machine and run ccm mod vendor there")
	}
	if res.Code != 0 {
		return "", fmt.Errorf("git %s%s", args[0], res.LastWords())
	}
	return string(res.Stdout), nil
}

// Versions returns the versions that a repository has tags for, in ascending order.
func (r *Resolver) Versions(ctx context.Context, source module.Source) ([]string, error) {
	tags, err := r.tagsOf(ctx, source.Git)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	var list []string
	for _, tag := range tags {
		if v := versionOf(tag, tags, source.Folder); v != "" && !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	semver.Sort(list)
	return list, nil
}

// Latest returns the newest release among versions, the newest pre-release if there is no release, "" if there are no
// versions. major limits it to one major version, "" to none.
func Latest(versions []string, major string) string {
	latest := ""
	for _, v := range versions {
		if major != "" && semver.Major(v) != major {
			continue
		}
		release := semver.Prerelease(v) == ""
		if latest == "" || release || semver.Prerelease(latest) != "" {
			latest = v
		}
	}
	return latest
}

// versionOf returns the version that a tag names for the module in a folder, "" for none. Tags for a folder begin
// with its path, as nginx/v1.2.0. If no tag of the repository does, its tags without a path count for all folders.
func versionOf(tag string, tags []string, folder string) string {
	if folder != "" && slices.ContainsFunc(tags, func(t string) bool { return strings.HasPrefix(t, folder+"/") }) {
		rest, ok := strings.CutPrefix(tag, folder+"/")
		if !ok {
			return ""
		}
		tag = rest
	}
	if v, err := module.CleanVersion(tag); err == nil {
		return v
	}
	return ""
}

// maxTags limits the tags of a repository that are considered.
const maxTags = 100_000

// tagsOf returns the tags of a repository, asked once.
func (r *Resolver) tagsOf(ctx context.Context, address string) ([]string, error) {
	if tags, ok := r.tags[address]; ok {
		return tags, nil
	}
	if err := module.CheckGit(address); err != nil {
		return nil, err
	}
	r.tell("listing versions of %s", address)
	out, err := r.git(ctx, "", "ls-remote", "--tags", "--refs", "--", address)
	if err != nil {
		return nil, err
	}
	var tags []string
	for line := range strings.Lines(out) {
		_, ref, ok := strings.Cut(strings.TrimSpace(line), "\t")
		tag, isTag := strings.CutPrefix(ref, "refs/tags/")
		if ok && isTag && len(tags) < maxTags {
			tags = append(tags, tag)
		}
	}
	if r.tags == nil {
		r.tags = make(map[string][]string)
	}
	r.tags[address] = tags
	return tags, nil
}

// tagFor returns the tag of a version.
func (r *Resolver) tagFor(ctx context.Context, source module.Source, version string) (string, error) {
	tags, err := r.tagsOf(ctx, source.Git)
	if err != nil {
		return "", err
	}
	for _, tag := range tags {
		if versionOf(tag, tags, source.Folder) == version {
			return tag, nil
		}
	}
	versions, _ := r.Versions(ctx, source)
	e := diag.At(diag.Pos{}, diag.None("tag for %s in %s", version, source))
	switch {
	case len(versions) == 0:
		e.Hint = "it contains no version tags such as v1.0.0"
	default:
		e.Hint = "tags: " + strings.Join(versions[max(0, len(versions)-5):], ", ")
	}
	return "", e
}

// A fetchedTag is a tag that was fetched, with all folders of the repository.
type fetchedTag struct {
	repository string // the local repository that holds the tag
	commit     string
	object     string // the text of an annotated tag
}

// fetchTag fetches a tag, once for all modules that are folders of the repository. No code of the repository runs:
// there is no work tree, and hooks and filters are off.
func (r *Resolver) fetchTag(ctx context.Context, address, tag string) (*fetchedTag, error) {
	key := [2]string{address, tag}
	if t := r.fetched[key]; t != nil {
		return t, nil
	}
	repository, err := r.repository(ctx, address)
	if err != nil {
		return nil, err
	}
	ref := "refs/tags/" + tag
	if _, err := r.git(ctx, repository, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", address, "+"+ref+":"+ref); err != nil {
		return nil, err
	}
	t := &fetchedTag{repository: repository}
	out, err := r.git(ctx, repository, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("tag %s does not point to a commit", tag)
	}
	t.commit = strings.TrimSpace(out)
	if kind, err := r.git(ctx, repository, "cat-file", "-t", ref); err == nil && strings.TrimSpace(kind) == "tag" {
		if t.object, err = r.git(ctx, repository, "cat-file", "tag", ref); err != nil {
			return nil, err
		}
	}
	if r.fetched == nil {
		r.fetched = make(map[[2]string]*fetchedTag)
	}
	r.fetched[key] = t
	return t, nil
}

// repository returns the local repository into which the tags of an address are fetched. Close removes it.
func (r *Resolver) repository(ctx context.Context, address string) (string, error) {
	if dir, ok := r.repositories[address]; ok {
		return dir, nil
	}
	dir, err := os.MkdirTemp(filepath.Join(r.Caches[0], "tmp"), "git-")
	if err != nil {
		return "", err
	}
	if r.repositories == nil {
		r.repositories = make(map[string]string)
	}
	if _, err := r.git(ctx, "", "init", "--quiet", "--bare", "--template=", "--", dir); err != nil {
		removeTree(dir)
		return "", err
	}
	r.repositories[address] = dir
	if err := os.MkdirAll(filepath.Join(dir, "info"), 0o700); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "info", "attributes"), []byte(git.RawAttributes), 0o600)
}

// Close removes the local repositories.
func (r *Resolver) Close() {
	for _, dir := range r.repositories {
		removeTree(dir)
	}
	r.repositories, r.fetched = nil, nil
}

// fromGit extracts a version from a repository.
func (r *Resolver) fromGit(ctx context.Context, source module.Source, version, stage, tree string) (*CachedModule, error) {
	tag, err := r.tagFor(ctx, source, version)
	if err != nil {
		return nil, err
	}
	t, err := r.fetchTag(ctx, source.Git, tag)
	if err != nil {
		return nil, err
	}
	got := &CachedModule{Dir: tree, Tag: tag, Commit: t.commit, TagObject: t.object}
	what, archive := got.Commit, filepath.Join(stage, "module.tar")
	if source.Folder != "" {
		what += ":" + source.Folder
	}
	if _, err := r.git(ctx, t.repository, "archive", "--format=tar", "--output="+archive, what); err != nil {
		if source.Folder != "" {
			return nil, diag.Missing(fmt.Sprintf("directory %s", source.Folder), "in %s at %s", source.Git, tag)
		}
		return nil, err
	}
	if fi, err := os.Stat(archive); err != nil || fi.Size() > 2*module.MaxBytes {
		return nil, errors.Join(err, diag.Exceeds("archive", "%d MiB for an archive of a module", 2*module.MaxBytes>>20))
	}
	return got, r.unpackTo(ctx, archive, tree, unpack.Tar)
}

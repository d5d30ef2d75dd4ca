package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/git"
	"github.com/luaccm/ccm/runtime/host/fetch"
)

// How long git may take to ask, and to fetch.
const (
	askPatience   = time.Minute
	fetchPatience = 10 * time.Minute
)

// A gitSource is a branch or tag of a repository. The git of the machine asks which commit it
// names now, and fetches that alone. Nothing of the repository is run: there is no work tree.
type gitSource struct {
	x      *access
	config SourceConfig
	name   string
	local  string // where it is on this machine, "" if it is elsewhere
	plain  *url.URL
	store  *store
}

func (x *access) newGitSource(c SourceConfig) (*gitSource, error) {
	s := &gitSource{x: x, config: c, name: c.Git}
	u, err := url.Parse(c.Git)
	switch {
	case err == nil && u.Scheme == "file":
		s.local = u.Path
	case filepath.IsAbs(c.Git):
		s.local = c.Git
	case err == nil && u.Host != "":
		s.name = fetch.RedactURL(u)
		s.plain = u
	}
	if c.Ref != "" {
		s.name += " " + c.Ref
	}
	if c.Path != "" {
		s.name += " " + c.Path
	}
	s.store, err = x.store.openStore(s.name, c.Git)
	return s, err
}

// Name implements Source.
func (s *gitSource) Name() string { return s.name }

// Take implements Source.
func (s *gitSource) Take() (Site, func(), bool) { return s.store.take() }

// Poll implements Source.
func (s *gitSource) Poll(ctx context.Context) (changed bool, err error) {
	if s.plain != nil {
		if err := s.x.checkPlainHTTP(s.plain, s.config.Signers != ""); err != nil {
			return false, err
		}
	}
	if s.local != "" && s.config.Signers == "" && !s.x.insecure {
		if err := s.x.policy.Check(s.local); err != nil {
			return false, err
		}
	}
	list, who, err := s.x.signersText(ctx, s.config.Signers)
	if err != nil {
		return false, err
	}
	ref, commit, err := s.ask(ctx)
	if err != nil {
		return false, err
	}
	v := version{Digest: "commit:" + commit, Revision: commit, Signers: fingerprint(who)}
	if now := s.store.current(); now != nil && now.Revision == v.Revision && now.Signers == v.Signers {
		return false, nil
	}
	st, err := s.store.begin()
	if err != nil {
		return false, err
	}
	defer st.discard()
	repo := st.path("repo")
	err = s.store.top.do("fetch", path.Join(s.store.dir, st.name, "repo"), func() error { return s.fetch(ctx, repo, ref, commit) })
	if err != nil {
		return false, err
	}
	if list != nil {
		text, err := s.git(ctx, fetchPatience, repo, "cat-file", "commit", commit)
		if err != nil {
			return false, err
		}
		signer, err := commitSigner(list, text)
		if err != nil {
			return false, fmt.Errorf("the commit %.12s: %w", commit, err)
		}
		v.Signer = signer.String()
	}
	v.Entry, err = st.unpack(func(root *os.Root) (string, error) { return s.unpack(ctx, repo, commit, root) })
	if err != nil {
		return false, err
	}
	if err := st.root.RemoveAll("repo"); err != nil {
		return false, err
	}
	v.Fetched = s.x.now().UTC()
	return true, st.keep(ctx, v)
}

// ask returns the commit that is wanted, and the ref to fetch it by.
func (s *gitSource) ask(ctx context.Context) (ref, commit string, err error) {
	want := s.config.Ref
	if isCommit(want) {
		return want, want, nil
	}
	var refs []string
	switch {
	case want == "":
		refs = []string{"HEAD"}
	case strings.HasPrefix(want, "refs/"):
		refs = []string{want}
	default:
		refs = []string{"refs/heads/" + want, "refs/tags/" + want}
	}
	out, err := s.git(ctx, askPatience, "", append([]string{"ls-remote", "--quiet", "--", s.config.Git}, append(refs, refs[len(refs)-1]+"^{}")...)...)
	if err != nil {
		return "", "", err
	}
	found := make(map[string]string)
	for line := range strings.Lines(out) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && isCommit(id) {
			found[name] = id
		}
	}
	for _, name := range refs {
		id, ok := found[name]
		switch {
		case !ok:
		case ref != "":
			return "", "", diag.Errorf(diag.Pos{}, "%s is a branch and a tag there", want).WithHint("ref: %s, or %s", refs[0], refs[1])
		default:
			ref, commit = name, id
			if peeled := found[name+"^{}"]; peeled != "" { // a tag has an object of its own
				commit = peeled
			}
		}
	}
	switch {
	case ref != "":
		return ref, commit, nil
	case want == "":
		return "", "", errors.New("the repository is empty")
	}
	return "", "", fmt.Errorf("the repository has no branch or tag %s", want)
}

// isCommit reports whether a text is the full name of an object: SHA-1 or SHA-256.
func isCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// fetch gets a commit into a new repository.
func (s *gitSource) fetch(ctx context.Context, repo, ref, commit string) error {
	format := "sha1"
	if len(commit) == 64 {
		format = "sha256"
	}
	if _, err := s.git(ctx, askPatience, "", "init", "--quiet", "--bare", "--template=", "--object-format="+format, "--", repo); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(repo, "info"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(repo, "info", "attributes"), []byte(git.RawAttributes), 0o600); err != nil {
		return err
	}
	if _, err := s.git(ctx, fetchPatience, repo, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", s.config.Git, "+"+ref+":refs/ccm/site"); err != nil {
		return err
	}
	got, err := s.git(ctx, askPatience, repo, "rev-parse", "--verify", "--quiet", "--end-of-options", "refs/ccm/site^{commit}")
	if err == nil && strings.TrimSpace(got) != commit {
		err = errors.New("the branch has moved while it was fetched")
	}
	return err
}

// unpack writes the files of a commit, and returns the script or manifest that is run.
func (s *gitSource) unpack(ctx context.Context, repo, commit string, root *os.Root) (entry string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchPatience)
	defer cancel()
	cmd := gitCommand(ctx, repo, "archive", "--format=tar", commit)
	var stderr bytes.Buffer
	cmd.Stderr = &boundedWriter{w: &stderr, left: 64 << 10}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", startError(err)
	}
	unpacked := bundle.UnpackTar(ctx, out, root, bundle.DefaultLimits)
	if unpacked != nil {
		_ = cmd.Cancel()
	}
	if err := cmd.Wait(); unpacked == nil && err != nil {
		return "", s.failed("archive", stderr.String(), err)
	}
	if unpacked != nil {
		return "", unpacked
	}
	return s.entry(root)
}

// entry returns the script or manifest that is run.
func (s *gitSource) entry(root *os.Root) (string, error) {
	at := path.Clean(filepath.ToSlash(s.config.Path))
	if s.config.Path == "" {
		at = "."
	}
	fi, err := root.Stat(at)
	if err != nil {
		return "", fmt.Errorf("the commit has no %s", s.config.Path)
	}
	if !fi.IsDir() {
		return at, nil
	}
	sub, err := fs.Sub(root.FS(), at)
	if err != nil {
		return "", err
	}
	name, err := bundle.FindEntry(sub)
	if err != nil {
		return "", diag.Errorf(diag.Pos{}, "the folder %s of the commit cannot be run: %w", at, err).WithHint("path: FOLDER, or path: FILE")
	}
	return path.Join(at, name), nil
}

// git runs git and returns what it writes.
func (s *gitSource) git(ctx context.Context, patience time.Duration, repo string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := gitCommand(ctx, repo, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &boundedWriter{w: &stdout, left: 4 << 20}, &boundedWriter{w: &stderr, left: 64 << 10}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return "", fmt.Errorf("git %s took longer than %s", args[0], patience)
		}
		return "", s.failed(args[0], stderr.String(), err)
	}
	return stdout.String(), nil
}

// gitCommand returns a command that ends with the context, and all that it started.
func gitCommand(ctx context.Context, repo string, args ...string) *exec.Cmd {
	argv := git.Argv(repo, args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), git.Environment()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// failed says why git failed, without what authorizes.
func (s *gitSource) failed(verb, stderr string, err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 127 {
		return startError(exec.ErrNotFound)
	}
	if s.plain != nil && s.plain.User != nil {
		stderr = strings.ReplaceAll(stderr, s.config.Git, fetch.RedactURL(s.plain))
		if password, ok := s.plain.User.Password(); ok && password != "" {
			stderr = strings.ReplaceAll(stderr, password, "xxxxx")
		}
	}
	words := lastWords(stderr)
	if words == "" {
		words = err.Error()
	}
	return fmt.Errorf("git %s: %s", verb, words)
}

func startError(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return diag.Errorf(diag.Pos{}, "there is no program git").WithHint("install git: the agent calls that of the machine")
	}
	return err
}

// lastWords returns the last line of a text that says something: one that begins as errors do, if
// there is one.
func lastWords(text string) string {
	last, failure := "", ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		last = line
		if rest, ok := strings.CutPrefix(line, "fatal: "); ok && failure == "" {
			failure = rest
		}
	}
	if failure != "" {
		return failure
	}
	return last
}

// A boundedWriter writes so much, and drops the rest.
type boundedWriter struct {
	w    *bytes.Buffer
	left int
}

// Write implements io.Writer.
func (b *boundedWriter) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	b.w.Write(p[:n])
	return len(p), nil
}

package agent

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/git"
	"github.com/luaccm/ccm/runtime/host/fetch"
)

// Time limits of git for asking and for fetching.
const (
	askPatience   = time.Minute
	fetchPatience = 10 * time.Minute
)

// A gitSource is a branch or tag of a repository. The machine's git asks for its present commit,
// and fetches only that. Nothing in the repository is run: there is no work tree.
type gitSource struct {
	x       *access
	config  SourceConfig
	name    string
	local   string // path of a local repository, "" for a remote one
	plain   *url.URL
	store   *store
	cpuTime time.Duration // processor time of git since the last poll began
	lastAsk time.Duration // the part of it for asking in the last poll
	pause   time.Duration // the shortest time between polls
	// changeTime is the time of the last change, or of the agent's start.
	changeTime time.Time
}

func (x *access) newGitSource(c SourceConfig) (*gitSource, error) {
	s := &gitSource{x: x, config: c, name: c.Git, changeTime: x.now()}
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

// In the long run, asking must not take more than one part in shareOfProcessor of a processor;
// for that, polls pause up to longestPause. After a change more often follow, so there are no
// such pauses for busyTime.
const (
	shareOfProcessor = 1000
	longestPause     = 5 * time.Minute
	busyTime         = 15 * time.Minute
)

// PollInterval implements Patience. The processor time to ask depends on the machine and on the
// connection: some milliseconds for a directory, hundreds for ssh on a small board.
func (s *gitSource) PollInterval() time.Duration {
	if since := s.x.now().Sub(s.changeTime); since >= 0 && since < busyTime {
		return 0
	}
	return s.pause
}

// measure sets the pause from the processor time of asking. One poll may take much more, when git
// is read from disk or the machine is busy, so the lesser of two times counts.
func (s *gitSource) measure() {
	took := s.cpuTime
	if s.lastAsk > 0 {
		took = min(took, s.lastAsk)
	}
	s.lastAsk, s.pause = s.cpuTime, min(took*shareOfProcessor, longestPause)
}

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
	s.cpuTime = 0
	ref, commit, err := s.ask(ctx)
	s.measure()
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
		text, err := s.runGit(ctx, fetchPatience, repo, "cat-file", "commit", commit)
		if err != nil {
			return false, err
		}
		signer, err := commitSigner(list, text)
		if err != nil {
			return false, notBelieved("the commit "+commit[:12], err)
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
	v.FetchTime = s.x.now().UTC()
	s.changeTime = v.FetchTime
	return true, st.keep(ctx, v)
}

// ask returns the present commit, and the ref to fetch it by.
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
	out, err := s.runGit(ctx, askPatience, "", append([]string{"ls-remote", "--quiet", "--", s.config.Git}, append(refs, refs[len(refs)-1]+"^{}")...)...)
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
			return "", "", diag.At(diag.Pos{}, diag.OfKind(want, "both a branch and a tag")).WithHint("use ref: %s or ref: %s", refs[0], refs[1])
		default:
			ref, commit = name, id
			if peeled := found[name+"^{}"]; peeled != "" { // an annotated tag is an object of its own
				commit = peeled
			}
		}
	}
	switch {
	case ref != "":
		return ref, commit, nil
	case want == "":
		return "", "", diag.Empty("the repository")
	}
	return "", "", diag.NotFound("branch or tag", want, nil)
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
	if _, err := s.runGit(ctx, askPatience, "", "init", "--quiet", "--bare", "--template=", "--object-format="+format, "--", repo); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(repo, "info"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(repo, "info", "attributes"), []byte(git.RawAttributes), 0o600); err != nil {
		return err
	}
	if _, err := s.runGit(ctx, fetchPatience, repo, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", s.config.Git, "+"+ref+":refs/ccm/site"); err != nil {
		return err
	}
	got, err := s.runGit(ctx, askPatience, repo, "rev-parse", "--verify", "--quiet", "--end-of-options", "refs/ccm/site^{commit}")
	if err == nil && strings.TrimSpace(got) != commit {
		err = diag.Meanwhile("the branch", "moved")
	}
	return err
}

// unpack writes the files of a commit, and returns the script or manifest to run.
func (s *gitSource) unpack(ctx context.Context, repo, commit string, root *os.Root) (entry string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchPatience)
	defer cancel()
	cmd := s.command(ctx, repo, "archive", "--format=tar", commit)
	var stderr bytes.Buffer
	cmd.Stderr = &boundedWriter{w: &stderr, remaining: 64 << 10}
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

// entry returns the script or manifest to run.
func (s *gitSource) entry(root *os.Root) (string, error) {
	at := path.Clean(filepath.ToSlash(s.config.Path))
	if s.config.Path == "" {
		at = "."
	}
	fi, err := root.Stat(at)
	if err != nil {
		return "", diag.Missing(s.config.Path, "in the commit")
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
		return "", diag.At(diag.Pos{}, diag.Cannot("run", fmt.Sprintf("the directory %s of the commit", at), err)).
			WithHint("set path to a directory or a file")
	}
	return path.Join(at, name), nil
}

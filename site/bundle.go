package site

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/signers"
	"github.com/luaccm/ccm/runtime/state"
)

// BundleOptions say which bundles are believed, and which scripts and manifests from elsewhere.
type BundleOptions struct {
	// SHA256 is what they must have, in hexadecimal; "" for any.
	SHA256 string `json:",omitempty"`
	// Signers is a file of who may have signed them, as ssh-keygen(1) describes it; "" asks for
	// no signature.
	Signers string `json:",omitempty"`
}

// given returns the flag that asks something of a bundle, "" if none does.
func (o *BundleOptions) given() string {
	switch {
	case o.SHA256 != "":
		return "--sha256"
	case o.Signers != "":
		return "--signers"
	}
	return ""
}

// check returns what is wrong with the options, and brings them into their usual form.
func (o *BundleOptions) check() error {
	if o.SHA256 == "" {
		return nil
	}
	text := strings.ToLower(strings.TrimPrefix(o.SHA256, "sha256:"))
	if sum, err := hex.DecodeString(text); err != nil || len(sum) != sha256.Size {
		return diag.Errorf(diag.Pos{}, "--sha256: want 64 hexadecimal digits, got %q", o.SHA256).WithHint("ccm bundle prints them")
	}
	o.SHA256 = text
	return nil
}

// An enteredBundle is a bundle, or a script or manifest from elsewhere, that was unpacked in a
// place of its own, which is the working directory.
type enteredBundle struct {
	name   string // as it was named
	known  string // the name under which the state directory knows it
	origin string // the working directory before
	entry  string // the script or manifest that is run
	digest string
	signer *signers.Signer // nil if no signature was asked for
	place  *bundle.Place
}

// Enter prepares for a site that is not simply a file here: a bundle, or what is behind a URL.
// That is fetched, checked and unpacked below the cache directory, and the process changes into
// it, so that all is as it is in the folder of a site: relative paths, data, messages. Paths in
// the options, which were meant from the working directory, become absolute. The name stands for
// the script or manifest in it until leave is called, which removes it. Of a file that is none
// of this Enter does nothing.
func (p *Process) Enter(ctx context.Context, name string, o *Options) (leave func() error, err error) {
	if err := o.Bundle.check(); err != nil {
		return nil, err
	}
	in, err := p.openBundle(ctx, name, o.Data.Context, &o.Bundle)
	if err != nil {
		return nil, p.interruption(ctx, err)
	}
	if in == nil {
		if flag := o.Bundle.given(); flag != "" {
			return nil, diag.Errorf(diag.Pos{}, "%s is about bundles and URLs, and %s is neither", flag, name)
		}
		return func() error { return nil }, nil
	}
	defer in.Close()
	b := &enteredBundle{name: name, known: in.known}
	verify, err := p.verifier(ctx, in, &o.Bundle)
	if err != nil {
		return nil, p.interruption(ctx, err)
	}
	if b.origin, err = os.Getwd(); err != nil {
		return nil, err
	}
	if err := o.absolute(b.origin, p); err != nil {
		return nil, err
	}
	if b.place, err = p.takePlace(b.known); err != nil {
		return nil, err
	}
	ctx, cancel := p.UntilStopped(ctx)
	defer cancel()
	if err := b.unpack(ctx, in, &o.Bundle, verify); err != nil {
		return nil, errors.Join(p.interruption(ctx, placed(in.shown, err)), b.place.Close())
	}
	// The folder of a script is that in which it lies, as it is when somebody runs it there.
	if err := os.Chdir(filepath.Join(b.place.Path, unpackedName, path.Dir(b.entry))); err != nil {
		return nil, errors.Join(err, b.place.Close())
	}
	b.entry = path.Base(b.entry)
	p.bundle = b
	return func() error {
		p.bundle = nil
		return errors.Join(os.Chdir(b.origin), b.place.Close())
	}, nil
}

// placed returns the mistake of a bundle.
func placed(shown string, err error) error {
	if e, ok := errors.AsType[*diag.Error](err); ok {
		return e
	}
	return &diag.Error{Pos: diag.Pos{File: shown}, Err: err}
}

// What lies in the place of a bundle.
const (
	packedName   = "packed" // the bundle, as it came
	unpackedName = "site"   // what was in it
	// topName has the search for the modules of a script end here, as at the top of a repository:
	// what lies above the cache is no part of the bundle.
	topName = ".git"
)

// takePlace takes a place for what is known under a name.
func (p *Process) takePlace(known string) (*bundle.Place, error) {
	dir := filepath.Join(state.CacheDir(), "bundles")
	err := p.Files.CheckState(dir)
	if err == nil {
		sum := sha256.Sum256([]byte(known))
		var place *bundle.Place
		if place, err = bundle.Take(dir, hex.EncodeToString(sum[:8])); err == nil {
			return place, nil
		}
	}
	return nil, diag.Errorf(diag.Pos{}, "cache directory: %w", err).WithHint("CCM_CACHE_DIR=DIR names another one")
}

// unpack copies what comes into the place, checks it, and unpacks it. Nobody can change it
// between these.
func (b *enteredBundle) unpack(ctx context.Context, in *incoming, o *BundleOptions, verify verifier) error {
	f, err := b.place.Root.OpenFile(packedName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	limit := bundle.DefaultLimits.Packed
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(contextReader{ctx, in}, limit+1))
	if err != nil {
		return in.failed(err)
	}
	if n > limit {
		return &bundle.LimitError{What: bytesize.Format(limit)}
	}
	b.digest = hex.EncodeToString(sum.Sum(nil))
	if o.SHA256 != "" && o.SHA256 != b.digest {
		return fmt.Errorf("want the SHA-256 %s, got %s", o.SHA256, b.digest)
	}
	if verify != nil {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if b.signer, err = verify(contextReader{ctx, f}); err != nil {
			return err
		}
	}
	for _, name := range []string{topName, unpackedName} {
		if err := b.place.Root.Mkdir(name, 0o700); err != nil {
			return err
		}
	}
	root, err := b.place.Root.OpenRoot(unpackedName)
	if err != nil {
		return err
	}
	defer root.Close()
	head := make([]byte, 4)
	k, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if in.single != "" && !bundle.IsBundle(head[:k]) {
		b.entry = in.single
		text, err := safepath.ReadUpTo(f, safepath.LargestText)
		if err != nil {
			return err
		}
		return root.WriteFile(b.entry, text, 0o600)
	}
	b.entry, err = bundle.Unpack(ctx, f, root, bundle.DefaultLimits)
	return errors.Join(err, b.place.Root.Remove(packedName))
}

// A contextReader reads until the context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// An incoming is a site that comes from elsewhere, as a stream.
type incoming struct {
	io.ReadCloser
	shown  string // how messages speak of it
	known  string // the name under which the state directory knows it
	single string // the name of the file if it is no bundle but a script or manifest; "" if it must be one
	failed func(error) error
	// beside opens what stands beside it, by its name with a suffix.
	beside func(ctx context.Context, suffix string) (io.ReadCloser, error)
}

// openBundle opens what is no script or manifest here; it returns nil if it is one.
func (p *Process) openBundle(ctx context.Context, name, natsContext string, o *BundleOptions) (*incoming, error) {
	if fetch.IsURL(name) {
		return p.openURL(ctx, name, o)
	}
	if strings.HasPrefix(name, objectSchema) {
		return p.openObject(ctx, name, natsContext, o)
	}
	if name == "-" {
		return nil, nil
	}
	if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() {
		return nil, nil // a pipe can be read only once; of the rest who reads it says what is wrong
	}
	if is, err := isBundle(name); err != nil || !is {
		return nil, nil
	}
	known, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	f, err := p.Files.Trust().Open(name)
	if err != nil {
		return nil, err
	}
	found, err := bundle.Find(f)
	if found == nil || err != nil {
		return nil, errors.Join(placed(name, cmp.Or(err, errChanged)), f.Close())
	}
	_, at, _ := found.Outer()
	return &incoming{
		ReadCloser: readCloser{found, func() { f.Close() }}, shown: name, known: known, failed: func(err error) error { return err },
		beside: func(_ context.Context, suffix string) (io.ReadCloser, error) {
			if at > 0 {
				return nil, errors.New("an executable has none")
			}
			return p.Files.Trust().Open(name + suffix)
		},
	}, nil
}

// errChanged says that a bundle is none any more.
var errChanged = errors.New("it was changed while it was read")

// isBundle reports whether a file here is a bundle, or an executable with one, by what it begins
// and ends with.
func isBundle(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	found, err := bundle.Find(f)
	return found != nil, err
}

// openURL asks a server. What root does must not depend on what everybody on the way to it
// can write.
func (p *Process) openURL(ctx context.Context, name string, o *BundleOptions) (*incoming, error) {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return nil, diag.Errorf(diag.Pos{}, "want a URL such as https://example.org/site.tar.gz, got %q", name)
	}
	shown := fetch.RedactURL(u)
	if err := p.checkPlainHTTP(u, o.given() != ""); err != nil {
		return nil, err
	}
	x, err := get(ctx, u, o.SHA256, bundle.DefaultLimits.Packed)
	if err != nil {
		return nil, err
	}
	return &incoming{
		ReadCloser: readCloser{x, x.Close}, shown: shown, known: shown, single: fileName(u.Path), failed: x.Failed,
		beside: func(ctx context.Context, suffix string) (io.ReadCloser, error) {
			v := *u
			v.Path, v.RawPath = u.Path+suffix, ""
			x, err := get(ctx, &v, o.SHA256, signers.MaxSignature)
			if err != nil {
				return nil, err
			}
			return readCloser{x, x.Close}, nil
		},
	}, nil
}

// openObject asks NATS.
func (p *Process) openObject(ctx context.Context, name, natsContext string, o *BundleOptions) (*incoming, error) {
	bucket, key, err := bucketAndKey(name, objectSchema)
	if err != nil {
		return nil, err
	}
	client := p.nats(natsContext, o.given() != "")
	r, err := client.Object(ctx, bucket, key, bundle.DefaultLimits.Packed)
	if err != nil {
		return nil, placed(name, explainNATS(err))
	}
	return &incoming{
		ReadCloser: r, shown: name, known: name, single: fileName(key), failed: func(err error) error { return err },
		beside: func(ctx context.Context, suffix string) (io.ReadCloser, error) {
			return client.Object(ctx, bucket, key+suffix, signers.MaxSignature)
		},
	}, nil
}

// get asks a server for what is behind a URL. With a checksum it may be redirected to what
// everybody can change.
func get(ctx context.Context, u *url.URL, checksum string, limit int64) (*fetch.Transfer, error) {
	x := fetch.New(ctx, fetch.Request{URL: u, Checksum: checksum}, limit)
	err := x.Open(fetch.NewTransport())
	if err == nil {
		err = x.CheckSize()
	}
	if err != nil {
		err = x.Failed(err)
		x.Close()
		return nil, err
	}
	return x, nil
}

// SignatureSuffix is how the name of a signature ends, behind that of what was signed.
const SignatureSuffix = ".sig"

// SignatureNamespace is for what a bundle is signed (ssh-keygen -Y sign -n).
const SignatureNamespace = "ccm-bundle"

// A verifier returns who has signed what r holds.
type verifier func(r io.Reader) (*signers.Signer, error)

// verifier reads who may sign, and the signature, before anything is fetched; it returns nil if none is
// asked for.
func (p *Process) verifier(ctx context.Context, in *incoming, o *BundleOptions) (verifier, error) {
	if o.Signers == "" {
		return nil, nil
	}
	text, err := p.Files.ReadFile(o.Signers)
	if err != nil {
		return nil, fmt.Errorf("--signers: %w", err)
	}
	list, err := signers.Parse(o.Signers, string(text))
	if err != nil {
		return nil, fmt.Errorf("--signers: %w", err)
	}
	r, err := in.beside(ctx, SignatureSuffix)
	if err != nil {
		return nil, diag.Errorf(diag.Pos{File: in.shown}, "--signers asks for a signature: %w", err).WithHint("ccm bundle --sign KEY makes one")
	}
	defer r.Close()
	signature, err := safepath.ReadUpTo(r, signers.MaxSignature)
	if err != nil {
		return nil, placed(in.shown+SignatureSuffix, err)
	}
	return func(r io.Reader) (*signers.Signer, error) {
		who, err := list.Verify(r, signature, SignatureNamespace, p.Clock.Now())
		return &who, err
	}, nil
}

// knownURL returns a URL without what authorizes.
func knownURL(name string) (string, bool) {
	if !isRemote(name) {
		return "", false
	}
	u, err := url.Parse(name)
	if err != nil {
		return "", false
	}
	return fetch.RedactURL(u), true
}

// A readCloser is closed by a function.
type readCloser struct {
	io.Reader
	close func()
}

// Close implements io.Closer.
func (r readCloser) Close() error { r.close(); return nil }

// fileName returns how the script or manifest behind a URL is called here.
func fileName(p string) string {
	name := path.Base(p)
	if name == "." || name == "/" || len(name) > 200 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) {
		return "site"
	}
	return name
}

// absolute makes the paths in the options absolute, and those that the environment gives.
func (o *Options) absolute(dir string, p *Process) error {
	from := func(path string) string {
		if path == "" || path == "-" || filepath.IsAbs(path) || isRemote(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	for _, path := range []*string{&o.Root, &o.Facts.File, &o.Data.File, &o.Data.EnvFile, &o.Bundle.Signers} {
		*path = from(*path)
	}
	for i, path := range p.Modules {
		p.Modules[i] = from(path)
	}
	for _, name := range []string{DataVariable, state.DirVariable, encryption.IdentityFileVariable} {
		if path := os.Getenv(name); path != "" {
			if err := os.Setenv(name, from(path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// workingDirectory returns the directory in which ccm was called.
func (p *Process) workingDirectory() (string, error) {
	if p.bundle != nil {
		return p.bundle.origin, nil
	}
	return os.Getwd()
}

// fromBundle returns how messages name a file: one of the bundle that runs as its script does, because
// the place where it was unpacked is gone afterwards. Others stay as they are.
func (p *Process) fromBundle(file string) string {
	if p.bundle == nil || !strings.HasPrefix(file, p.bundle.place.Path+string(filepath.Separator)) {
		return file
	}
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(here, file); err == nil {
		return rel
	}
	return file
}

// inputs returns what is recorded of a bundle besides its name.
func (b *enteredBundle) inputs() []std.Input {
	list := []std.Input{{Kind: "bundle", Name: b.known, Value: "sha256:" + b.digest}}
	if b.signer != nil {
		list = append(list, std.Input{Kind: "signer", Name: b.signer.Principal, Value: b.signer.Fingerprint})
	}
	return list
}

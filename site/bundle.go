package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/signers"
	"github.com/luaccm/ccm/runtime/state"
)

// BundleOptions describe which bundles, and which remote scripts and manifests, are trusted.
type BundleOptions struct {
	// SHA256 is their expected SHA-256 in hexadecimal; "" for any.
	SHA256 string `json:",omitempty"`
	// Signers is the file of allowed signers, in the format of ssh-keygen(1); "" requires no
	// signature.
	Signers string `json:",omitempty"`
}

// demandFlag returns the first flag that makes a demand on a bundle, "" if there is none.
func (o *BundleOptions) demandFlag() string {
	switch {
	case o.SHA256 != "":
		return "--sha256"
	case o.Signers != "":
		return "--signers"
	}
	return ""
}

// check returns the mistake in the options, and normalises them.
func (o *BundleOptions) check() error {
	if o.SHA256 == "" {
		return nil
	}
	text := strings.ToLower(strings.TrimPrefix(o.SHA256, "sha256:"))
	if sum, err := hex.DecodeString(text); err != nil || len(sum) != sha256.Size {
		return diag.Errorf(diag.Pos{}, "--sha256: %w", diag.Expected("64 hexadecimal digits").Got("%q", o.SHA256)).WithHint("use the digest that ccm bundle prints")
	}
	o.SHA256 = text
	return nil
}

// An enteredBundle is a bundle, or a remote script or manifest, unpacked into a directory that is
// the working directory. A nil enteredBundle stands for a local site.
type enteredBundle struct {
	name      string // as the user wrote it
	shownName string // in messages
	stateName string // in the state directory
	origin    string // the working directory before Enter
	entry     string // the script or manifest to run
	digest    string
	signer    *signers.Signer // nil without a demanded signature
	place     *bundle.Place
}

// Enter prepares a site that is a bundle or a URL. It fetches and checks the site, unpacks it
// below the cache directory, and makes that the working directory, so that relative paths, data
// and messages are as in the folder of a site. Paths in the options are relative to the old
// working directory, so they become absolute. The name represents the script or manifest in the
// bundle until leave is called, which removes the directory. For a local script or manifest Enter
// does nothing.
func (p *Process) Enter(ctx context.Context, name string, o *Options) (leave func() error, err error) {
	if err := o.Bundle.check(); err != nil {
		return nil, err
	}
	in, err := p.remote().openBundle(ctx, name, o.Data.Context, &o.Bundle)
	if err != nil {
		return nil, p.Stop.asInterruption(ctx, err)
	}
	if in == nil {
		if flag := o.Bundle.demandFlag(); flag != "" {
			return nil, diag.At(diag.Pos{}, diag.Requires(flag, "a bundle or URL, got %s", name))
		}
		return func() error { return nil }, nil
	}
	defer in.Close()
	b := &enteredBundle{name: name, shownName: in.shownName, stateName: in.stateName}
	verify, err := readSigners(ctx, p.Files, p.Clock, in, &o.Bundle)
	if err != nil {
		return nil, p.Stop.asInterruption(ctx, err)
	}
	if b.origin, err = os.Getwd(); err != nil {
		return nil, err
	}
	if err := o.makeAbsolute(b.origin, p); err != nil {
		return nil, err
	}
	if b.place, err = takePlace(p.Files, b.stateName); err != nil {
		return nil, err
	}
	ctx, cancel := p.Stop.Context(ctx)
	defer cancel()
	if err := b.unpack(ctx, in, &o.Bundle, verify); err != nil {
		return nil, errors.Join(p.Stop.asInterruption(ctx, placed(in.shownName, err)), b.place.Close())
	}
	// The working directory is the folder of the script, as when somebody runs it there.
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

// placed returns an error with the bundle as its place.
func placed(shown string, err error) error {
	if e, ok := errors.AsType[*diag.Error](err); ok {
		return e
	}
	return &diag.Error{Pos: diag.Pos{File: shown}, Err: err}
}

// Names in the place of a bundle.
const (
	packedName   = "packed" // the bundle as it came
	unpackedName = "site"   // the unpacked site
	// topName ends the search for the modules of a script, as the top of a repository does:
	// directories above the cache are no part of the bundle.
	topName = ".git"
)

// takePlace takes the place of a bundle, given its name in the state directory.
func takePlace(files *Files, known string) (*bundle.Place, error) {
	dir := filepath.Join(state.CacheDir(), "bundles")
	err := files.CheckState(dir)
	if err == nil {
		sum := sha256.Sum256([]byte(known))
		var place *bundle.Place
		if place, err = bundle.Take(dir, hex.EncodeToString(sum[:8])); err == nil {
			return place, nil
		}
	}
	return nil, diag.Errorf(diag.Pos{}, "cache directory: %w", err).WithHint("set another one with CCM_CACHE_DIR=DIR")
}

// unpack copies the stream into the place, checks it, and unpacks it. Nobody else can change the
// copy between these steps.
func (b *enteredBundle) unpack(ctx context.Context, in *siteStream, o *BundleOptions, verify verifier) error {
	f, err := b.place.Root.OpenFile(packedName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	limit := bundle.DefaultLimits.PackedSize
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(safepath.Within(ctx, in), limit+1))
	if err != nil {
		return in.wrapError(err)
	}
	if n > limit {
		return &bundle.LimitError{Limit: bytesize.Format(limit)}
	}
	b.digest = hex.EncodeToString(sum.Sum(nil))
	if o.SHA256 != "" && o.SHA256 != b.digest {
		return diag.Expected("the SHA-256 %s", o.SHA256).Got("%s", b.digest)
	}
	if verify != nil {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if b.signer, err = verify(safepath.Within(ctx, f)); err != nil {
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
	if err != nil && !errors.Is(err, io.EOF) {
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

// inputs returns the inputs of the run's record that describe the bundle.
func (b *enteredBundle) inputs() []std.Input {
	list := []std.Input{{Kind: "bundle", Name: b.stateName, Value: "sha256:" + b.digest}}
	if b.signer != nil {
		list = append(list, std.Input{Kind: "signer", Name: b.signer.Principal, Value: b.signer.Fingerprint})
	}
	return list
}

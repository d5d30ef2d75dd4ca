package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
// place of its own, which is the working directory. One that is nil stands for a site that is a file here.
type enteredBundle struct {
	name      string // as it was named
	shownName string // how messages name it
	stateName string // the name under which the state directory knows it
	origin    string // the working directory before
	entry     string // the script or manifest that is run
	digest    string
	signer    *signers.Signer // nil if no signature was asked for
	place     *bundle.Place
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
	in, err := p.remote().openBundle(ctx, name, o.Data.Context, &o.Bundle)
	if err != nil {
		return nil, p.Stop.asInterruption(ctx, err)
	}
	if in == nil {
		if flag := o.Bundle.given(); flag != "" {
			return nil, diag.Errorf(diag.Pos{}, "%s is about bundles and URLs, and %s is neither", flag, name)
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
	if err := o.absolute(b.origin, p); err != nil {
		return nil, err
	}
	if b.place, err = takePlace(p.Files, b.stateName); err != nil {
		return nil, err
	}
	ctx, cancel := p.UntilStopped(ctx)
	defer cancel()
	if err := b.unpack(ctx, in, &o.Bundle, verify); err != nil {
		return nil, errors.Join(p.Stop.asInterruption(ctx, placed(in.shownName, err)), b.place.Close())
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
	return nil, diag.Errorf(diag.Pos{}, "cache directory: %w", err).WithHint("CCM_CACHE_DIR=DIR names another one")
}

// unpack copies what comes into the place, checks it, and unpacks it. Nobody can change it
// between these.
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
		return fmt.Errorf("want the SHA-256 %s, got %s", o.SHA256, b.digest)
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

// inputs returns what is recorded of a bundle besides its name.
func (b *enteredBundle) inputs() []std.Input {
	list := []std.Input{{Kind: "bundle", Name: b.stateName, Value: "sha256:" + b.digest}}
	if b.signer != nil {
		list = append(list, std.Input{Kind: "signer", Name: b.signer.Principal, Value: b.signer.Fingerprint})
	}
	return list
}

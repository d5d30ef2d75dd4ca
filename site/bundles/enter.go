package bundles

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
	"github.com/luaccm/ccm/runtime/encryption"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
	"github.com/luaccm/ccm/runtime/signers"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/remote"
)

// demandFlag returns the first flag that makes a demand on a bundle, "" if there is none.
func demandFlag(o *site.BundleOptions) string {
	switch {
	case o.SHA256 != "":
		return "--sha256"
	case o.Signers != "":
		return "--signers"
	}
	return ""
}

// check returns the mistake in the options, and normalises them.
func check(o *site.BundleOptions) error {
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

// An unpacking unpacks a bundle, or a remote script or manifest.
type unpacking struct {
	stream  *siteStream
	options *site.BundleOptions
	verify  verifier // nil without a demanded signature
	place   *bundle.Place
	entry   string // the script or manifest to run
	digest  string
	signer  *signers.Signer // nil without a demanded signature
}

// Enter prepares a site that is a bundle or a URL. It fetches and checks the site, unpacks it
// below the cache directory, and makes that the working directory, so that relative paths, data
// and messages are as in the folder of a site. Paths in the options are relative to the old
// working directory, so they become absolute. The name represents the script or manifest in the
// bundle until leave is called, which removes the directory. For a local script or manifest Enter
// does nothing.
func Enter(ctx context.Context, p *site.Process, name string, o *site.Options) (leave func() error, err error) {
	if err := check(&o.Bundle); err != nil {
		return nil, err
	}
	in, err := open(ctx, p, name, o)
	if err != nil {
		return nil, p.Stop.Interruption(ctx, err)
	}
	if in == nil {
		if flag := demandFlag(&o.Bundle); flag != "" {
			return nil, diag.At(diag.Pos{}, diag.Requires(flag, "a bundle or URL, got %s", name))
		}
		return func() error { return nil }, nil
	}
	defer in.Close()
	x := &unpacking{stream: in, options: &o.Bundle}
	if x.verify, err = readSigners(ctx, p.Files, p.Clock, in, &o.Bundle); err != nil {
		return nil, p.Stop.Interruption(ctx, err)
	}
	origin, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := makeAbsolute(o, origin, p); err != nil {
		return nil, err
	}
	if x.place, err = takePlace(p.Files, in.stateName); err != nil {
		return nil, err
	}
	ctx, cancel := p.Stop.Context(ctx)
	defer cancel()
	if err := x.unpack(ctx); err != nil {
		return nil, errors.Join(p.Stop.Interruption(ctx, placed(in.shownName, err)), x.place.Close())
	}
	// The working directory is the folder of the script, as when somebody runs it there.
	dir := filepath.Join(x.place.Path, unpackedName)
	if err := os.Chdir(filepath.Join(dir, path.Dir(x.entry))); err != nil {
		return nil, errors.Join(err, x.place.Close())
	}
	p.Files.Bundle = &site.UnpackedBundle{
		Name: name, ShownName: in.shownName, StateName: in.stateName, Origin: origin, Dir: dir, Entry: path.Base(x.entry), Inputs: x.inputs(),
	}
	return func() error {
		p.Files.Bundle = nil
		return errors.Join(os.Chdir(origin), x.place.Close())
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
func takePlace(files *site.Files, known string) (*bundle.Place, error) {
	dir := filepath.Join(state.CacheDir(), "bundles")
	err := files.CheckState(dir)
	if err == nil {
		var place *bundle.Place
		if place, err = bundle.Take(dir, sha256sum.Short(known, 8)); err == nil {
			return place, nil
		}
	}
	return nil, diag.Errorf(diag.Pos{}, "cache directory: %w", err).WithHint("set another one with CCM_CACHE_DIR=DIR")
}

// unpack copies the stream into the place, checks it, and unpacks it. Nobody else can change the
// copy between these steps.
func (x *unpacking) unpack(ctx context.Context) error {
	f, err := x.place.Root.OpenFile(packedName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	limit := bundle.DefaultLimits.PackedSize
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(safepath.Within(ctx, x.stream), limit+1))
	if err != nil {
		return x.stream.wrapError(err)
	}
	if n > limit {
		return &bundle.LimitError{Limit: bytesize.Format(limit)}
	}
	x.digest = hex.EncodeToString(sum.Sum(nil))
	if x.options.SHA256 != "" && x.options.SHA256 != x.digest {
		return diag.Expected("the SHA-256 %s", x.options.SHA256).Got("%s", x.digest)
	}
	if x.verify != nil {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if x.signer, err = x.verify(safepath.Within(ctx, f)); err != nil {
			return err
		}
	}
	for _, name := range []string{topName, unpackedName} {
		if err := x.place.Root.Mkdir(name, 0o700); err != nil {
			return err
		}
	}
	root, err := x.place.Root.OpenRoot(unpackedName)
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
	if x.stream.single != "" && !bundle.IsBundle(head[:k]) {
		x.entry = x.stream.single
		text, err := safepath.ReadUpTo(f, safepath.LargestText)
		if err != nil {
			return err
		}
		return root.WriteFile(x.entry, text, 0o600)
	}
	x.entry, err = bundle.Unpack(ctx, f, root, bundle.DefaultLimits)
	return errors.Join(err, x.place.Root.Remove(packedName))
}

// inputs returns the inputs of a record that describe the bundle.
func (x *unpacking) inputs() []std.Input {
	list := []std.Input{{Kind: "bundle", Name: x.stream.stateName, Value: "sha256:" + x.digest}}
	if x.signer != nil {
		list = append(list, std.Input{Kind: "signer", Name: x.signer.Principal, Value: x.signer.Fingerprint})
	}
	return list
}

// makeAbsolute makes the paths in the options and in the environment absolute.
func makeAbsolute(o *site.Options, dir string, p *site.Process) error {
	from := func(path string) string {
		if path == "" || path == "-" || filepath.IsAbs(path) || remote.IsName(path) {
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
	for _, name := range []string{site.DataVariable, state.DirVariable, encryption.IdentityFileVariable} {
		if path := os.Getenv(name); path != "" {
			if err := os.Setenv(name, from(path)); err != nil {
				return err
			}
		}
	}
	return nil
}

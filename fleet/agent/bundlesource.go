package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/signers"
)

// A bundleSource is the common part of sources on servers: a bundle, or a script or manifest
// alone.
type bundleSource struct {
	x      *access
	config SourceConfig
	store  *store
	single string // file name of a script or manifest; "" for a bundle
}

// A remote is the present content of a source on a server.
type remote struct {
	body io.Reader
	// revision and lastModified are the server's validators of the content.
	revision, lastModified string
	// signature fetches the signature beside the content.
	signature func(ctx context.Context) ([]byte, error)
}

// signersText reads the allowed signers. Their text is part of a version, so that a removed
// signer's version is not run any more.
func (x *access) signersText(ctx context.Context, file string) (*signers.List, string, error) {
	if file == "" {
		return nil, "", nil
	}
	text, err := x.policy.ReadFile(ctx, file)
	if err != nil {
		return nil, "", fmt.Errorf("signers: %w", err)
	}
	list, err := signers.Parse(file, string(text))
	if err != nil {
		return nil, "", fmt.Errorf("signers: %w", err)
	}
	return list, string(text), nil
}

// install installs the content of a server, unless it is installed already. It reports whether
// the site to run has changed.
func (p *bundleSource) install(ctx context.Context, r *remote) (changed bool, err error) {
	list, who, err := p.x.signersText(ctx, p.config.Signers)
	if err != nil {
		return false, err
	}
	st, err := p.store.begin()
	if err != nil {
		return false, err
	}
	defer st.discard()
	f, digest, err := st.receive(ctx, r.body)
	if err != nil {
		return false, err
	}
	defer f.Close()
	v := version{Digest: "sha256:" + digest, Revision: r.revision, LastModified: r.lastModified, Signers: fingerprint(who), FetchTime: p.x.now().UTC()}
	if now := p.store.current(); now != nil && now.Digest == v.Digest && now.Signers == v.Signers {
		return false, p.store.confirm(r.revision, r.lastModified)
	}
	if p.config.SHA256 != "" && p.config.SHA256 != digest {
		return false, &DigestError{Want: p.config.SHA256, Have: digest}
	}
	if list != nil {
		signature, err := r.signature(ctx)
		if err != nil {
			return false, diag.Requires("signers", "a signature: %w", err)
		}
		signer, err := list.Verify(safepath.Within(ctx, f), signature, bundle.SignatureNamespace, p.x.now())
		if err != nil {
			return false, notBelieved("the bundle", err)
		}
		v.Signer = signer.String()
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return false, err
		}
	}
	if v.Entry, err = st.unpack(func(root *os.Root) (string, error) { return p.unpack(ctx, f, root) }); err != nil {
		return false, err
	}
	if err := st.root.Remove("packed"); err != nil {
		return false, err
	}
	return true, st.keep(ctx, v)
}

// notBelieved returns the error that the present content of a source is not trusted and not run.
func notBelieved(what string, err error) error {
	return diag.Not(what, "trusted: %w", err)
}

// unpack unpacks a bundle, or copies a script or manifest.
func (p *bundleSource) unpack(ctx context.Context, f *os.File, root *os.Root) (entry string, err error) {
	head := make([]byte, 4)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if bundle.IsBundle(head[:n]) {
		return bundle.Unpack(ctx, f, root, bundle.DefaultLimits)
	}
	if !isScript(p.single) {
		return "", diag.Expected("a bundle (.tar.gz), or a script or manifest named *.lua, *.yaml or *.yml")
	}
	text, err := safepath.ReadUpTo(f, safepath.LargestText)
	if err != nil {
		return "", err
	}
	return p.single, root.WriteFile(p.single, text, 0o600)
}

// isScript reports whether a name is that of a script or manifest.
func isScript(name string) bool {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == '/' }) || len(name) > 200 {
		return false
	}
	switch path.Ext(name) {
	case ".lua", ".yaml", ".yml":
		return true
	}
	return false
}

// readSignature reads a signature from what a server sends.
func readSignature(r io.Reader) ([]byte, error) {
	text, err := safepath.ReadUpTo(r, signers.MaxSignature)
	return bytes.TrimSpace(text), err
}

// A DigestError reports that what came is not the bundle that was asked for.
type DigestError struct {
	Want, Have string // SHA-256, in hexadecimal digits
}

// Error names both digests.
func (e *DigestError) Error() string {
	return diag.Expected("the SHA-256 %s", e.Want).Got("%s", e.Have).Error()
}

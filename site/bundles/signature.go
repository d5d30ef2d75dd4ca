package bundles

import (
	"context"
	"fmt"
	"io"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/signers"
	"github.com/luaccm/ccm/site"
)

// A verifier returns who signed the content of r.
type verifier func(r io.Reader) (*signers.Signer, error)

// readSigners reads the allowed signers and the signature before anything is fetched. It returns
// nil if no signature is demanded.
func readSigners(ctx context.Context, files *site.Files, clock host.Clock, in *siteStream, o *site.BundleOptions) (verifier, error) {
	if o.Signers == "" {
		return nil, nil
	}
	text, err := files.ReadFile(o.Signers)
	if err != nil {
		return nil, fmt.Errorf("--signers: %w", err)
	}
	list, err := signers.Parse(o.Signers, string(text))
	if err != nil {
		return nil, fmt.Errorf("--signers: %w", err)
	}
	r, err := in.openCompanion(ctx, bundle.SignatureSuffix)
	if err != nil {
		return nil, diag.At(diag.Pos{File: in.shownName}, diag.Requires("--signers", "a signature: %w", err)).
			WithHint("sign the bundle with: ccm bundle --sign KEY")
	}
	defer r.Close()
	signature, err := safepath.ReadUpTo(r, signers.MaxSignature)
	if err != nil {
		return nil, placed(in.shownName+bundle.SignatureSuffix, err)
	}
	return func(r io.Reader) (*signers.Signer, error) {
		who, err := list.Verify(r, signature, bundle.SignatureNamespace, clock.Now())
		return &who, err
	}, nil
}

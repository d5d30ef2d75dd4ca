package release

import (
	"context"
	"fmt"

	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/signers"
)

// signersKind is the kind of documents about allowed signers in an archive.
const signersKind = "signers"

// SetSigners stores the allowed signers from now on, in the form of allowed_signers of
// ssh-keygen(1), and the threshold, the number of signatures of a release. Nodes trust this
// document if it has enough signatures by the present signers and threshold: keys in more sign it
// besides the controller's.
func (c *Controller) SetSigners(ctx context.Context, file, text string, threshold int, more ...signers.Key) (*signed.Signers, error) {
	list, err := signers.Parse(file, text)
	if err != nil {
		return nil, err
	}
	if threshold < 1 || list.Len() < threshold {
		return nil, fmt.Errorf("%s: threshold: %w", file, diag.MustBe("1 to %d, the number of signers", list.Len()).Got("%d", threshold))
	}
	control, err := c.Store.Read(ctx)
	if err != nil {
		return nil, err
	}
	s := &signed.Signers{Header: c.header(), Threshold: threshold, Signers: text}
	s.Version = c.Store.Book.Highest(s) + 1
	if before := control.Signers; before != nil {
		s.Version = max(s.Version, before.Version+1)
	}
	out, err := signed.Sign(ctx, s, c.Key)
	if err != nil {
		return nil, err
	}
	for _, key := range more {
		if out, err = signed.AddSignature(ctx, out, new(signed.Signers), key); err != nil {
			return nil, err
		}
	}
	if err := c.keep(signersKind, s.Version, out); err != nil {
		return nil, err
	}
	return s, c.Store.PutSigners(ctx, out, control.SignersEntry.Sequence)
}

// Threshold returns the number of signers who must sign a release, by the document on the servers.
func (c *Controller) Threshold(ctx context.Context) (int, error) {
	control, err := c.Store.Read(ctx)
	if err != nil || control.Signers == nil {
		return 1, err
	}
	return control.Signers.Threshold, nil
}

// storeSignersAgain is StoreAgain for allowed signers.
func (c *Controller) storeSignersAgain(ctx context.Context, a Archive, control *Control) (stored []string, err error) {
	text, err := a.last(signersKind)
	if err != nil || text == nil {
		return nil, err
	}
	s := new(signed.Signers)
	if err := signed.Read(text, s); err != nil {
		return nil, err
	}
	if control.Signers != nil && !control.SignersEntry.lacks(s.Version, control.Signers.Version) {
		return nil, nil
	}
	if err := c.Store.PutSigners(ctx, text, control.SignersEntry.Sequence); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("signers %d", s.Version)}, nil
}

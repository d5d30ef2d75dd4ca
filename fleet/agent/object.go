package agent

import (
	"context"
	"path"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/nats"
	"github.com/luaccm/ccm/runtime/signers"
)

// An objectSource is a bundle, script or manifest in an object store of NATS. Its revision is the
// store's digest of it.
type objectSource struct {
	bundleSource
	name, bucket, key string
	nats              *natsClient
}

func (x *access) newObjectSource(c SourceConfig) (*objectSource, error) {
	bucket, key, err := bucketAndKey(c.URL, objectScheme)
	if err != nil {
		return nil, err
	}
	s := &objectSource{bundleSource: bundleSource{x: x, config: c, single: path.Base(key)}, name: c.URL, bucket: bucket, key: key}
	s.nats = x.nats(c.Signers != "" || c.SHA256 != "")
	s.store, err = x.store.openStore(s.name, c.SHA256)
	return s, err
}

// Name implements Source.
func (s *objectSource) Name() string { return s.name }

// Take implements Source.
func (s *objectSource) Take() (Site, func(), bool) { return s.store.take() }

// Close ends the connection.
func (s *objectSource) Close() { s.nats.close() }

// Poll implements Source.
func (s *objectSource) Poll(ctx context.Context) (changed bool, err error) {
	_, who, err := s.x.signersText(ctx, s.config.Signers)
	if err != nil {
		return false, err
	}
	err = s.nats.use(func(c *nats.Client) error {
		revision, err := c.ObjectRevision(ctx, s.bucket, s.key)
		if err != nil {
			return err
		}
		if now := s.store.current(); now != nil && now.Revision == revision && now.Signers == fingerprint(who) {
			return nil
		}
		r, err := c.Object(ctx, s.bucket, s.key, bundle.DefaultLimits.PackedSize)
		if err != nil {
			return err
		}
		defer r.Close()
		changed, err = s.install(ctx, &remote{body: r, revision: revision, signature: func(ctx context.Context) ([]byte, error) {
			r, err := c.Object(ctx, s.bucket, s.key+bundle.SignatureSuffix, signers.MaxSignature)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return readSignature(r)
		}})
		return err
	})
	return changed, explainNATS(err)
}

// explainNATS adds hints to the error of a request to NATS.
func explainNATS(err error) error {
	if nats.IsPlain(err) {
		return diag.At(diag.Pos{}, diag.Not("", "trusted for runs as root: %w", err)).
			WithHint("use tls:// in the URL of the context, set signers or sha256, or set allow_insecure: true")
	}
	return err
}

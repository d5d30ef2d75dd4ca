package posix

import (
	"context"
	"errors"
	"io"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// writeChecked is host.WriteFile with a check: the validate command has to accept the content
// before it is moved to the path.
func writeChecked(ctx context.Context, h *host.Host, want resources.File, content io.Reader, attr safepath.Attr) (err error) {
	tmp, err := h.Create(want.Name, attr)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Discard())
		}
	}()
	if _, err := io.Copy(tmp, content); err != nil {
		return err
	}
	if err := want.Validation().Ask(ctx, &h.View, "validate", tmp.Name()); err != nil {
		return err
	}
	return tmp.Commit()
}

// withCheckAfter replaces or removes a file and runs its validate_after. If that fails, the file
// is restored.
func withCheckAfter(ctx context.Context, h *host.Host, want resources.File, store func() error) error {
	if !want.ValidationAfter().IsGiven() {
		return store()
	}
	before, err := h.Lstat(want.Name)
	if err == nil {
		err = h.Backups().Make(want.Name)
	}
	if err != nil {
		return err
	}
	err = store()
	if err == nil {
		err = want.ValidationAfter().Ask(ctx, &h.View, "validate_after", "")
	}
	if err == nil {
		return h.Backups().Discard(want.Name)
	}
	back := h.Backups().Rollback(want.Name)
	if back == nil && before.Kind == safepath.Regular {
		back = h.SetAttr(want.Name, safepath.Attr{UID: before.UID, GID: before.GID, Mode: before.Mode})
	}
	if back != nil {
		return errors.Join(err, diag.Cannot("restore", "the previous file", back))
	}
	return err
}

// Predict implements resource.Predictor: it runs validate on a copy of the content in another
// place.
func (p files) Predict(ctx context.Context, v *host.View, want resources.File) (caveat string, err error) {
	if err := want.ValidationAfter().MayRun(v, "validate_after"); err != nil {
		return "", err
	}
	if want.ValidationAfter().IsGiven() {
		caveat = "a plan does not run validate_after"
	}
	if !want.Validation().IsGiven() || want.Content == nil && want.Source == nil {
		return caveat, nil
	}
	if want, err = resolved(v, want); err != nil {
		return caveat, err
	}
	info, _, same, err := p.look(ctx, v, want)
	if err != nil || same || !want.ManagesContent(info.Kind) {
		return caveat, err
	}
	err = v.WithScratch(func(s *host.Scratch) error {
		content, err := p.text(ctx, v, want)
		if err != nil {
			return err
		}
		if err := s.WriteFile("content", content); err != nil {
			return err
		}
		return want.Validation().Ask(ctx, v, "validate", s.Path("content"))
	})
	if missing, ok := errors.AsType[*overlay.NotKnownError](err); ok && missing.Author == nil {
		if caveat != "" {
			return "a plan does not run validate and validate_after", nil
		}
		return "a plan does not run validate", nil // something pending may bring its program
	}
	return caveat, err
}

// text returns the desired content.
func (files) text(ctx context.Context, v *host.View, want resources.File) ([]byte, error) {
	if want.Content != nil {
		return []byte(*want.Content), nil
	}
	src, err := v.Sources().Open(ctx, want.SourceName())
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(src)
	return text, errors.Join(err, src.Close())
}

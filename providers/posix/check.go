package posix

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

// writeChecked is host.WriteFile, but before the content gets its place a
// command looks at it.
func writeChecked(ctx context.Context, h *host.Host, want resources.File, content io.Reader, attr host.Attr) (err error) {
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
	if err := ask(ctx, &h.View, "validate", want.CheckOf(tmp.Name())); err != nil {
		return err
	}
	return tmp.Commit()
}

// withCheckAfter replaces a file and runs its validate_after. If that fails, the
// file is what it was.
func withCheckAfter(ctx context.Context, h *host.Host, want resources.File, store func() error) error {
	if !want.IsCheckedAfterwards() {
		return store()
	}
	before, err := h.Lstat(want.Name)
	if err == nil {
		err = h.Backup(want.Name)
	}
	if err != nil {
		return err
	}
	err = store()
	if err == nil {
		err = ask(ctx, &h.View, "validate_after", want.CheckAfterwards())
	}
	if err == nil {
		return h.DiscardBackup(want.Name)
	}
	back := h.Rollback(want.Name)
	if back == nil && before.Kind == host.Regular {
		back = h.SetAttr(want.Name, host.Attr{UID: before.UID, GID: before.GID, Mode: before.Mode})
	}
	if back != nil {
		return errors.Join(err, fmt.Errorf("what was there before could not be put back: %w", back))
	}
	return err
}

// ask runs a command that looks, and returns an error unless it exits 0.
func ask(ctx context.Context, v *host.View, property string, argv []string) error {
	cmd := host.Cmd{Argv: argv, KeepLocale: true}
	res, err := v.Query(ctx, cmd)
	if err == nil {
		err = res.Err(cmd)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", property, err)
	}
	return nil
}

// Foresee implements resource.Forecaster: validate is asked about a copy of the
// content that lies elsewhere.
func (p files) Foresee(ctx context.Context, v *host.View, want resources.File) (caveat string, err error) {
	if want.IsCheckedAfterwards() {
		caveat = "validate_after is asked only in a run"
	}
	if !want.IsChecked() || want.Content == nil && want.Source == nil {
		return caveat, nil
	}
	info, _, same, err := p.look(ctx, v, want)
	if err != nil || same || !want.ManagesContent(info.Kind) {
		return caveat, err
	}
	return caveat, v.Scratch(func(s *host.Scratch) error {
		content, err := p.text(ctx, v, want)
		if err != nil {
			return err
		}
		if err := s.WriteFile("content", content); err != nil {
			return err
		}
		return ask(ctx, v, "validate", want.CheckOf(s.Path("content")))
	})
}

// text returns the content that is wanted.
func (files) text(ctx context.Context, v *host.View, want resources.File) ([]byte, error) {
	if want.Content != nil {
		return []byte(*want.Content), nil
	}
	src, err := v.OpenSource(ctx, *want.Source)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(src)
	return text, errors.Join(err, src.Close())
}

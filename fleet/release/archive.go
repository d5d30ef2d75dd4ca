package release

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/fleet/author"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/atomicfile"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// An Archive is a copy of the releases in the directory of a fleet, in case the servers lose
// theirs.
type Archive struct{ Directory, Environment string }

func (a Archive) path(parts ...string) string {
	return filepath.Join(append([]string{a.Directory, "releases", a.Environment}, parts...)...)
}

// Keep writes a document. It fits Controller.Keep.
func (a Archive) Keep(kind string, version int64, text []byte) error {
	if err := os.MkdirAll(a.path(), 0o700); err != nil {
		return err
	}
	return host.New(host.Options{}).Save(a.path(author.FileName(kind, version)), text, 0o600)
}

// AddBundle adds a bundle that write writes, and returns its path in the archive. write returns the digest.
func (a Archive) AddBundle(write func(f *os.File) (digest string, err error)) (file, digest string, err error) {
	if err := os.MkdirAll(a.path(), 0o700); err != nil {
		return "", "", err
	}
	o := atomicfile.Options{Durable: true, Shared: true, Name: func() string { return subject.BundleObject(digest) }}
	err = atomicfile.Write(a.path("bundle"), o, func(f *os.File) (err error) {
		digest, err = write(f)
		return err
	})
	if err != nil {
		return "", "", err
	}
	return a.path(subject.BundleObject(digest)), digest, nil
}

// CopyBundle adds a bundle from an existing file.
func (a Archive) CopyBundle(from string) (file, digest string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", "", err
	}
	defer in.Close()
	return a.AddBundle(func(f *os.File) (string, error) { return sha256sum.Reader(io.TeeReader(in, f)) })
}

// last returns the newest document of a kind; nil if there is none.
func (a Archive) last(kind string) ([]byte, error) {
	text, _, err := author.Newest(a.path(), kind)
	return text, err
}

// Book returns the book of signers for the documents on the servers. File is in the format of
// allowed_signers.
func (a Archive) Book(file string, now func() time.Time) (*author.Book, error) {
	return author.Open(file, a.path(), a.Environment, now)
}

// StoreAgain stores documents and bundles of an archive that the servers have lost, have only in an
// older version, or have behind one that is not believed. It returns their names. It signs nothing: the documents have their old
// signatures.
func (c *Controller) StoreAgain(ctx context.Context, a Archive) (stored []string, err error) {
	control, err := c.Store.Read(ctx)
	if err != nil {
		return nil, err
	}
	text, err := a.last("release")
	if err != nil {
		return nil, err
	}
	r := new(signed.Release)
	if text == nil {
		return nil, diag.None("release of %s in %s", a.Environment, a.Directory)
	}
	if err := signed.Read(text, r); err != nil {
		return nil, err
	}
	if has, err := c.Store.HasBundle(ctx, r.Digest()); err != nil || !has {
		if err != nil {
			return nil, err
		}
		f, err := os.Open(a.path(subject.BundleObject(r.Digest())))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := c.Store.PutBundle(ctx, r.Digest(), f); err != nil {
			return nil, err
		}
		stored = append(stored, "bundle "+r.Bundle)
	}
	if control.Release == nil || control.ReleaseEntry.lacks(r.Version, control.Release.Version) {
		if err := c.Store.PutRelease(ctx, text, control.ReleaseEntry.Sequence); err != nil {
			return stored, err
		}
		stored = append(stored, fmt.Sprintf("release %d", r.Version))
	}
	again, err := c.storeSignersAgain(ctx, a, control)
	stored = append(stored, again...)
	if err != nil {
		return stored, err
	}
	ro := new(signed.Rollout)
	if text, err = a.last("rollout"); err != nil || text == nil {
		return stored, err
	}
	if err := signed.Read(text, ro); err != nil {
		return stored, err
	}
	if control.Rollout == nil || control.RolloutEntry.lacks(ro.Version, control.Rollout.Version) {
		if err := c.Store.PutRollout(ctx, text, control.RolloutEntry.Sequence); err != nil {
			return stored, err
		}
		stored = append(stored, fmt.Sprintf("rollout %d of release %d: %s, stage %d", ro.Version, ro.Release, ro.State, ro.Stage+1))
	}
	return stored, nil
}

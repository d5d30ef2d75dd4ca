package bundles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/target"
)

// Save writes the bundle of a folder to a file, or to stdout, and returns the SHA-256 of
// the output. With a program the output is an executable: this program with the site in it.
func Save(ctx context.Context, folder bundle.Folder, out string, program *os.File, stdout io.Writer) (sum bundle.Summary, digest string, err error) {
	hash := sha256.New()
	write := func(to io.Writer) (err error) {
		to = io.MultiWriter(to, hash)
		pack := func(w io.Writer) (err error) {
			sum, err = bundle.Write(ctx, w, folder)
			return err
		}
		if program == nil {
			return pack(to)
		}
		return bundle.WriteExecutable(to, program, pack)
	}
	if out == "-" {
		err = write(stdout)
		return sum, hex.EncodeToString(hash.Sum(nil)), err
	}
	mode := uint32(0o644)
	if program != nil {
		mode = 0o755
	}
	folder = without(folder, out)
	r, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := write(w)
		w.CloseWithError(err)
		packed <- err
	}()
	err = host.New(host.Options{}).SaveFrom(out, r, mode)
	r.CloseWithError(err) // ends the writer if it is still running
	if failed := <-packed; failed != nil && err != nil {
		err = failed // the error of saving is the cause, or the same
	}
	return sum, hex.EncodeToString(hash.Sum(nil)), err
}

// Write writes the bundle of a folder to an open file, which may be in the folder, and returns its SHA-256.
func Write(ctx context.Context, folder bundle.Folder, f *os.File) (digest string, err error) {
	hash := sha256.New()
	_, err = bundle.Write(ctx, io.MultiWriter(f, hash), without(folder, f.Name()))
	return hex.EncodeToString(hash.Sum(nil)), err
}

// without leaves the output and its signature out of a folder.
func without(folder bundle.Folder, out string) bundle.Folder {
	leave := folder.Leave
	folder.Leave = func(rel string, dir bool) bool {
		if dir {
			return leave(rel, dir)
		}
		file := filepath.Join(folder.Dir, rel)
		return leave(rel, dir) || target.IsTempName(filepath.Base(rel)) || isFile(file, out) || isFile(file, out+bundle.SignatureSuffix)
	}
	return folder
}

// isFile reports whether two paths lead to one file.
func isFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

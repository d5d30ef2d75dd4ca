package bundle

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/klauspost/compress/gzip"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
)

// A Folder is the site that is packed.
type Folder struct {
	Dir string
	// Entry is the script or manifest that is run, below Dir; "" for the usual one.
	Entry string
	// Leave reports what to leave out in addition to version control, by its path below Dir; nil
	// leaves nothing out.
	Leave func(rel string, dir bool) bool
	// Check returns why the file at a path is not trusted; nil trusts all.
	Check func(path string) error
	// Mounts are directories that replace the folder's content at a path, by these paths. They are
	// packed completely.
	Mounts map[string]string
	Limits
}

// A Summary counts the packed files.
type Summary struct {
	SHA256     string // of the bundle, in hexadecimal
	Files      int    // and links
	Bytes      int64  // of the files
	PackedSize int64
}

// String formats the counts.
func (s Summary) String() string {
	plural := "s"
	if s.Files == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d file%s, %s", s.Files, plural, bytesize.Format(s.Bytes))
}

// Write packs a folder. What it writes depends on the names and contents of the files, on
// whether their owners may execute them, and on where links lead; on nothing else, neither
// times nor owners nor the order in which the directory lists them. The same ccm writes the
// same bytes on every machine.
func Write(ctx context.Context, w io.Writer, f Folder) (Summary, error) {
	sum, counted := sha256.New(), &countingWriter{}
	gz, err := gzip.NewWriterLevel(io.MultiWriter(w, sum, counted), gzip.BestCompression)
	if err != nil {
		return Summary{}, err
	}
	p := &packer{ctx: ctx, folder: f, tar: tar.NewWriter(gz), items: make(map[string]item)}
	defer p.close()
	if err := p.pack(); err != nil {
		return Summary{}, err
	}
	if err := errors.Join(p.tar.Close(), gz.Close()); err != nil {
		return Summary{}, err
	}
	p.summary.SHA256, p.summary.PackedSize = hex.EncodeToString(sum.Sum(nil)), counted.n
	if f.PackedSize > 0 && counted.n > f.PackedSize {
		return Summary{}, &LimitError{bytesize.Format(f.PackedSize)}
	}
	return p.summary, nil
}

// A countingWriter counts the written bytes.
type countingWriter struct{ n int64 }

// Write implements io.Writer.
func (c *countingWriter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

// A packer packs one folder.
type packer struct {
	ctx     context.Context
	folder  Folder
	roots   []*os.Root
	tar     *tar.Writer
	items   map[string]item // by their paths in the bundle
	summary Summary
}

// An item is a file, link or directory that is packed.
type item struct {
	root *os.Root
	name string      // below root
	kind fs.FileMode // the type
}

// path returns the path for messages.
func (x item) path() string { return filepath.Join(x.root.Name(), x.name) }

func (p *packer) close() {
	for _, root := range p.roots {
		root.Close()
	}
}

func (p *packer) pack() error {
	leave := func(name string, dir bool) bool {
		_, mounted := p.folder.Mounts[name]
		return mounted || IsVersionControl(name) || name == metaName || p.folder.Leave != nil && p.folder.Leave(name, dir)
	}
	if err := p.collect(p.folder.Dir, "", leave); err != nil {
		return err
	}
	for at, dir := range p.folder.Mounts {
		if err := p.collect(dir, at, func(string, bool) bool { return false }); err != nil {
			return err
		}
	}
	text, err := p.entry()
	if err != nil {
		return err
	}
	if text != nil {
		if err := p.head(metaName, 0o644, int64(len(text))); err != nil {
			return err
		}
		if _, err := p.tar.Write(text); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.items)) {
		if err := context.Cause(p.ctx); err != nil {
			return err
		}
		if err := p.add(name, p.items[name]); err != nil {
			return fmt.Errorf("%s: %w", p.items[name].path(), plain(err))
		}
	}
	return nil
}

// collect collects the content of a directory, for a place in the bundle.
func (p *packer) collect(dir, at string, leave func(name string, dir bool) bool) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	p.roots = append(p.roots, root)
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if err := context.Cause(p.ctx); err != nil {
			return err
		}
		if leave(name, entry.IsDir()) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		packed := path.Join(at, name)
		if !isName(packed) {
			return fmt.Errorf("%s: %w", filepath.Join(dir, name), errNotName)
		}
		if entry.IsDir() { // directories are made for their content
			list, err := fs.ReadDir(root.FS(), name)
			if err != nil || len(list) > 0 {
				return err
			}
		}
		p.items[packed] = item{root: root, name: name, kind: entry.Type()}
		if p.folder.Entries > 0 && len(p.items) > p.folder.Entries {
			return tooMany(p.folder.Limits)
		}
		return nil
	})
}

// entry returns the text of the file metaName, nil if that is not needed.
func (p *packer) entry() ([]byte, error) {
	have := func(name string) bool { x, ok := p.items[name]; return ok && x.kind.IsRegular() }
	usual := slices.IndexFunc(entries, have)
	switch entry := p.folder.Entry; {
	case entry == "" && usual < 0:
		return nil, &NoEntryError{}
	case entry == "", usual >= 0 && entries[usual] == entry:
		return nil, nil
	case !have(entry):
		return nil, diag.SubjectCannot("the bundle", "run %s, which is excluded from it", filepath.Join(p.folder.Dir, entry))
	default:
		text, err := json.Marshal(metadata{Protocol: protocol, Format: format, Entry: entry})
		return append(text, '\n'), err
	}
}

// add writes an item under its name in the bundle.
func (p *packer) add(name string, x item) error {
	switch x.kind {
	case fs.ModeDir:
		return p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755})
	case fs.ModeSymlink:
		return p.link(name, x)
	case 0:
		return p.file(name, x)
	default:
		return diag.Expected("a file, link or directory")
	}
}

// link writes a link to a target in the bundle.
func (p *packer) link(name string, x item) error {
	target, err := x.root.Readlink(x.name)
	if err != nil {
		return err
	}
	if err := checkLink(x.root, x.name, target); err != nil {
		return err
	}
	p.summary.Files++
	return p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777})
}

// checkLink returns why a bundle may not have a link. The target has to be in the folder, wherever
// the folder is.
func checkLink(root *os.Root, name, target string) error {
	if path.IsAbs(target) {
		return diag.OfKind("", "a link to %s: %w", target, diag.Expected("a relative link inside of the directory"))
	}
	switch _, err := root.Stat(name); {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return diag.OfKind("", "a link to %s, which does not exist", target)
	case errors.Is(err, syscall.ELOOP):
		return diag.OfKind("", "a link to %s, which forms a loop", target)
	default: // os.Root has no name for this error
		return diag.OfKind("", "a link to %s, which is outside of the directory", target)
	}
}

// file writes a file with its present content.
func (p *packer) file(name string, x item) error {
	if p.folder.Check != nil {
		if err := p.folder.Check(x.path()); err != nil {
			return err
		}
	}
	// Do not block if a pipe was put in the file's place.
	f, err := x.root.OpenFile(x.name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return errChanged
	}
	mode := int64(0o644)
	if fi.Mode()&0o100 != 0 {
		mode = 0o755
	}
	if err := p.head(name, mode, fi.Size()); err != nil {
		return err
	}
	if n, err := io.CopyN(p.tar, f, fi.Size()); err != nil {
		if errors.Is(err, io.EOF) && n < fi.Size() {
			return errChanged
		}
		return err
	}
	if n, _ := f.Read(make([]byte, 1)); n > 0 {
		return errChanged
	}
	return nil
}

var errChanged = diag.Meanwhile("file", "changed")

// head writes the header of a file.
func (p *packer) head(name string, mode, size int64) error {
	p.summary.Files++
	if p.summary.Bytes += size; p.folder.Bytes > 0 && p.summary.Bytes > p.folder.Bytes {
		return tooLarge(p.folder.Limits)
	}
	return p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: size})
}

// plain returns an error without the path of the call.
func plain(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

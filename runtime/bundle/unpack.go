package bundle

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/luaccm/ccm/runtime/diag"
)

// Unpack reads a bundle into an empty directory that nobody else can write to, and returns the
// path of the script or manifest in it that is run.
//
// The bundle may come from anybody. It is refused as a whole if anything in it would land outside of
// the directory, by its name or by way of a link; if it holds a device, a pipe, a hard link, two
// things of one name, or more than the limits; and if it is damaged. Then the directory holds
// a part of it. Of modes only one bit counts: whether the owner of a file may execute it.
func Unpack(ctx context.Context, r io.Reader, root *os.Root, l Limits) (entry string, err error) {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return "", unreadable(err)
	}
	defer gz.Close()
	// Whatever sizes the archive declares, not more than this is expanded: the contents, and for each
	// entry a header, names of full length, and padding.
	stream := &limitedReader{r: gz, remaining: l.Bytes + int64(l.Entries)*(2*maxName+4*512) + 1<<20, err: tooLarge(l)}
	u, err := unpackTar(ctx, stream, root, l)
	if err != nil {
		return "", err
	}
	return u.entry()
}

// UnpackTar is [Unpack] for an uncompressed archive, such as from git archive, whose script or
// manifest the caller knows.
func UnpackTar(ctx context.Context, r io.Reader, root *os.Root, l Limits) error {
	_, err := unpackTar(ctx, r, root, l)
	return err
}

func unpackTar(ctx context.Context, stream io.Reader, root *os.Root, l Limits) (*unpacker, error) {
	u := &unpacker{ctx: ctx, root: root, limits: l, kinds: make(map[string]fs.FileMode)}
	if err := u.read(stream); err != nil {
		return nil, err
	}
	return u, u.makeLinks()
}

// unreadable says that an archive is not one, or only part of one.
func unreadable(err error) error {
	if _, ok := errors.AsType[*LimitError](err); ok {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return diag.Truncated("bundle")
	case errors.Is(err, gzip.ErrHeader):
		return diag.Expected("a tar archive that is compressed by gzip")
	}
	return diag.Damaged("bundle", err)
}

// A limitedReader reads so much, and then fails.
type limitedReader struct {
	r         io.Reader
	remaining int64
	err       error
}

// Read implements io.Reader.
func (l *limitedReader) Read(p []byte) (int, error) {
	if l.remaining <= 0 {
		return 0, l.err
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.remaining)])
	l.remaining -= int64(n)
	return n, err
}

// An unpacker unpacks one bundle.
type unpacker struct {
	ctx    context.Context
	root   *os.Root
	limits Limits
	kinds  map[string]fs.FileMode // the types of unpacked entries, by path
	links  []link
	bytes  int64
	meta   string // the content of the file metaName
}

// A link is made after all other entries, so that nothing is written through it.
type link struct{ name, target string }

func (u *unpacker) read(stream io.Reader) error {
	tr := tar.NewReader(stream)
	for {
		if err := context.Cause(u.ctx); err != nil {
			return err
		}
		head, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) { // which add says better
			return unreadable(err)
		}
		if head.Typeflag == tar.TypeXGlobalHeader { // git archive has one
			continue
		}
		if err := u.add(head, tr); err != nil {
			return fmt.Errorf("entry %q: %w", head.Name, plain(err))
		}
	}
	if len(u.kinds) == 0 {
		return diag.Empty("bundle")
	}
	// The checksum stands at the end. Between are zeros.
	buf := make([]byte, 32<<10)
	for {
		n, err := stream.Read(buf)
		if slices.ContainsFunc(buf[:n], func(b byte) bool { return b != 0 }) {
			return diag.Damaged("bundle", diag.Unexpected("data after the archive"))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return unreadable(err)
		}
	}
}

// add unpacks one entry.
func (u *unpacker) add(head *tar.Header, body io.Reader) error {
	name := strings.TrimPrefix(head.Name, "./")
	if head.Typeflag == tar.TypeDir {
		name = strings.TrimSuffix(name, "/")
		if name == "" || name == "." {
			return nil // the folder itself
		}
	}
	if !isName(name) {
		return errNotName
	}
	kind, err := kindOf(head)
	if err != nil {
		return err
	}
	if err := u.makeParents(name); err != nil {
		return err
	}
	if have, ok := u.kinds[name]; ok {
		if have.IsDir() && kind.IsDir() {
			return nil
		}
		return diag.Duplicate("entry")
	}
	if err := u.count(name, kind); err != nil {
		return err
	}
	switch {
	case kind.IsDir():
		return u.root.Mkdir(name, 0o755)
	case kind == fs.ModeSymlink:
		if len(head.Linkname) > maxName || head.Linkname == "" {
			return diag.OfKind("", "a symbolic link without target")
		}
		u.links = append(u.links, link{name, head.Linkname})
		return nil
	}
	return u.file(name, head, body)
}

// kindOf returns the type of an entry, if bundles may have it.
func kindOf(head *tar.Header) (fs.FileMode, error) {
	_, sparse := head.PAXRecords["GNU.sparse.size"]
	_, sparser := head.PAXRecords["GNU.sparse.realsize"]
	switch head.Typeflag {
	case tar.TypeReg:
		if sparse || sparser {
			break
		}
		return 0, nil
	case tar.TypeDir:
		return fs.ModeDir, nil
	case tar.TypeSymlink:
		return fs.ModeSymlink, nil
	case tar.TypeLink:
		return 0, diag.OfKind("", "a hard link, which is not supported in bundles (pack it with tar --hard-dereference)")
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return 0, diag.OfKind("", "a device or pipe, which is not supported in bundles")
	case tar.TypeGNUSparse:
	default:
		return 0, diag.OfKind("", "an entry of type %q, which is not supported in bundles", head.Typeflag)
	}
	return 0, diag.OfKind("", "a sparse file, which is not supported in bundles")
}

// makeParents makes the directories above a path that are not there.
func (u *unpacker) makeParents(name string) error {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	switch kind, ok := u.kinds[dir]; {
	case ok && kind.IsDir():
		return nil
	case ok:
		return diag.OfKind("", "a path below %s, which is not a directory", dir)
	}
	if err := u.makeParents(dir); err != nil {
		return err
	}
	if err := u.count(dir, fs.ModeDir); err != nil {
		return err
	}
	return u.root.Mkdir(dir, 0o755)
}

// count records an unpacked entry.
func (u *unpacker) count(name string, kind fs.FileMode) error {
	if len(u.kinds) >= u.limits.Entries {
		return tooMany(u.limits)
	}
	u.kinds[name] = kind
	return nil
}

func (u *unpacker) file(name string, head *tar.Header, body io.Reader) (err error) {
	if u.bytes += head.Size; head.Size < 0 || u.bytes > u.limits.Bytes {
		return tooLarge(u.limits)
	}
	mode := fs.FileMode(0o644)
	if head.Mode&0o100 != 0 {
		mode = 0o755
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.Copy(f, body); err != nil {
		if _, ours := errors.AsType[*fs.PathError](err); ours {
			return err
		}
		return unreadable(err)
	}
	return f.Chmod(mode) // regardless of umask
}

// makeLinks makes all links, and then checks their targets.
func (u *unpacker) makeLinks() error {
	for _, x := range u.links {
		if path.IsAbs(x.target) {
			return fmt.Errorf("entry %q: %w", x.name, checkLink(u.root, x.name, x.target))
		}
		if err := u.root.Symlink(x.target, x.name); err != nil {
			return fmt.Errorf("entry %q: %w", x.name, plain(err))
		}
	}
	for _, x := range u.links {
		if err := checkLink(u.root, x.name, x.target); err != nil {
			return fmt.Errorf("entry %q: %w", x.name, err)
		}
	}
	return nil
}

// entry returns the script or manifest that is run.
func (u *unpacker) entry() (string, error) {
	if u.kinds[metaName].IsRegular() {
		if text, err := u.root.ReadFile(metaName); err == nil {
			u.meta = string(text)
		}
	}
	var dirs []string
	for name, kind := range u.kinds {
		if kind.IsDir() && !strings.Contains(name, "/") {
			dirs = append(dirs, name)
		}
	}
	slices.Sort(dirs)
	return entryOf(u.root.FS(), u.meta, dirs)
}

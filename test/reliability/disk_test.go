//go:build integration

package reliability

import (
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
)

// A disk is a block device with a volatile cache that the test serves: a file in a FUSE file system, with a loop
// device on it. The test sees each write and flush, decides which fail, and knows the possible contents of the disk
// after a power failure at any time. Kernels with a device mapper have dm-flakey and dm-log-writes for that; this
// needs only FUSE and loop devices.
type disk struct {
	fs.Inode
	size int64

	mu    sync.Mutex
	pages pages
	ops   []op // since the call of record
	on    bool // operations are recorded
	// fail decides about each write, flush and read; nil lets all succeed. It returns the error, and for a write the
	// number of bytes that reach the disk nevertheless.
	fail func(kind string, length int) (errno syscall.Errno, kept int)
}

// An op is a write or, without data, a flush.
type op struct {
	at   int64
	data []byte
}

const pageSize = 4096

// pages are the nonzero parts of a disk. A page is never changed, but replaced.
type pages map[int64][]byte

func (p pages) write(at int64, data []byte) {
	for len(data) > 0 {
		n, from := at/pageSize, at%pageSize
		page := make([]byte, pageSize)
		copy(page, p[n])
		k := copy(page[from:], data)
		p[n] = page
		data, at = data[k:], at+int64(k)
	}
}

func (p pages) read(at int64, dest []byte) {
	for len(dest) > 0 {
		from := at % pageSize
		k := min(len(dest), int(pageSize-from))
		clear(dest[:k])
		if page := p[at/pageSize]; page != nil {
			copy(dest[:k], page[from:])
		}
		dest, at = dest[k:], at+int64(k)
	}
}

// save writes a disk to a file.
func (p pages) save(file string, size int64) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for n, page := range p {
		if _, err := f.WriteAt(page, n*pageSize); err != nil {
			return err
		}
	}
	return f.Truncate(size)
}

// load reads a disk from a file.
func load(file string) (pages, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, zero := make(pages), make([]byte, pageSize)
	for n := int64(0); ; n++ {
		page := make([]byte, pageSize)
		if _, err := io.ReadFull(f, page); err == io.EOF {
			return p, nil
		} else if err != nil {
			return nil, err
		}
		if string(page) != string(zero) {
			p[n] = page
		}
	}
}

// serve serves a disk with the content of an image, and returns its loop device.
func serve(t *testing.T, image string) (d *disk, device string) {
	t.Helper()
	info, err := os.Stat(image)
	require.NoError(t, err)
	content, err := load(image)
	require.NoError(t, err)
	d = &disk{size: info.Size(), pages: content}
	dir := t.TempDir()
	root := &fs.Inode{}
	server, err := fs.Mount(dir, root, &fs.Options{
		MountOptions:    fuse.MountOptions{DirectMountStrict: true, FsName: "ccm-disk", Name: "ccm-disk", MaxWrite: 1 << 20},
		RootStableAttr:  &fs.StableAttr{Ino: 1},
		NullPermissions: true,
		OnAdd: func(ctx context.Context) {
			root.AddChild("disk", root.NewPersistentInode(ctx, d, fs.StableAttr{Mode: syscall.S_IFREG, Ino: 2}), false)
		},
	})
	if err != nil {
		t.Skipf("no disk can be served, because FUSE cannot be mounted: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, server.Unmount()) })
	device = attach(t, filepath.Join(dir, "disk"))
	return d, device
}

var (
	_ fs.NodeOpener    = (*disk)(nil)
	_ fs.NodeReader    = (*disk)(nil)
	_ fs.NodeWriter    = (*disk)(nil)
	_ fs.NodeFsyncer   = (*disk)(nil)
	_ fs.NodeGetattrer = (*disk)(nil)
)

// Open implements fs.NodeOpener. The kernel caches nothing of the disk.
func (d *disk) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

// Getattr implements fs.NodeGetattrer.
func (d *disk) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size = syscall.S_IFREG|0o600, uint64(d.size)
	return 0
}

// Read implements fs.NodeReader.
func (d *disk) Read(_ context.Context, _ fs.FileHandle, dest []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if errno, _ := d.fails("read", len(dest)); errno != 0 {
		return nil, errno
	}
	d.pages.read(at, dest)
	return fuse.ReadResultData(dest), 0
}

// Write implements fs.NodeWriter.
func (d *disk) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	errno, kept := d.fails("write", len(data))
	if errno == 0 {
		kept = len(data)
	}
	d.pages.write(at, data[:kept])
	if d.on && kept > 0 {
		d.ops = append(d.ops, op{at, append([]byte(nil), data[:kept]...)})
	}
	return uint32(len(data)), errno
}

// Fsync implements fs.NodeFsyncer.
func (d *disk) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	errno, _ := d.fails("flush", 0)
	if d.on && errno == 0 {
		d.ops = append(d.ops, op{})
	}
	return errno
}

func (d *disk) fails(kind string, length int) (syscall.Errno, int) {
	if d.fail == nil {
		return 0, 0
	}
	return d.fail(kind, length)
}

// failing sets the function that decides about each operation; nil lets all succeed.
func (d *disk) failing(fail func(kind string, length int) (syscall.Errno, int)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = fail
}

// A history is the content of a disk, and the operations after that.
type history struct {
	before pages
	ops    []op
}

// record starts to record operations on the disk. end stops it and returns the history.
func (d *disk) record() (end func() history) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := history{before: maps.Clone(d.pages)}
	d.ops, d.on = nil, true
	return func() history {
		d.mu.Lock()
		defer d.mu.Unlock()
		h.ops, d.ops, d.on = d.ops, nil, false
		return h
	}
}

// crash returns a possible content of the disk after a power failure behind n operations. Everything before the last
// flush is there. Of the writes after it any may be there, in any order, and of each write its first pages. Pages are
// never torn: ext4 and xfs do not tolerate that, and could not be mounted.
func (h history) crash(n int, rnd *rand.Rand) pages {
	p := maps.Clone(h.before)
	flushed := 0
	for i, o := range h.ops[:n] {
		if o.data == nil {
			flushed = i
		}
	}
	for i, o := range h.ops[:n] {
		kept := len(o.data)
		if i > flushed {
			switch rnd.IntN(4) {
			case 0: // lost
				kept = 0
			case 1: // torn between pages
				kept = rnd.IntN(kept/pageSize+1) * pageSize
			}
		}
		p.write(o.at, o.data[:kept])
	}
	return p
}

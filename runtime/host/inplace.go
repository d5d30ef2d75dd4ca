package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A file is replaced by a rename. Where that is not possible, its content is written in place:
// readers can see a part of the new content. The whole content is held elsewhere until it is
// durable (Held), so that the next run completes the write if this process dies.

// Reasons to write a file in place, as reports have them.
const (
	isMountPoint = "it is a mount point"
	isOfKernel   = "the kernel provides it"
	hasHardLinks = "it has other hard links"
)

// errInPlace says that a file cannot be written in a batch.
var errInPlace = errors.New("the file is written in place")

// Held is the new content of a file that is going to be written in place.
type Held interface {
	// File is the content, open for reading and writing.
	File() *os.File
	// Name is the path of the content for the operating system.
	Name() string
	// Commit makes the content durable. From then on the next run completes the write if this
	// process dies.
	Commit(w InPlace) error
	// Remove removes the content, once the write is complete or did not begin.
	Remove() error
	// Close leaves the content to the next run.
	Close() error
}

// InPlace describes a file that is written in place.
type InPlace struct {
	Root     string // the directory used as /
	Path     string // as the machine sees it
	Dev, Ino uint64
	Attr     safepath.Attr
}

// unrecorded is a Held that nobody completes.
type unrecorded struct{ f *os.File }

// HoldUnrecorded holds a content in memory, for a process without a state directory. It is lost if the process dies.
func HoldUnrecorded(string) (Held, error) {
	f, err := safepath.MemoryFile("ccm-content")
	if err != nil {
		return nil, err
	}
	return unrecorded{f}, nil
}

// File implements Held.
func (u unrecorded) File() *os.File { return u.f }

// Name implements Held: commands find the content through this process.
func (u unrecorded) Name() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), u.f.Fd()) }

// Commit implements Held.
func (unrecorded) Commit(InPlace) error { return nil }

// Remove implements Held.
func (u unrecorded) Remove() error { return u.f.Close() }

// Close implements Held.
func (u unrecorded) Close() error { return u.f.Close() }

// KeepHardLinks returns a copy of h that writes a file with several hard links in place, so that
// all its names have the new content.
func KeepHardLinks(h *Host) *Host {
	c := *h
	c.keepLinks = true
	return &c
}

// inPlaceReason returns the reason why an open file is not replaced by a rename, "" for none. With
// keepLinks, one is that it has several hard links.
func inPlaceReason(d *safepath.Handle, keepLinks bool) string {
	switch {
	case d.Stat.Mode&unix.S_IFMT != unix.S_IFREG:
		return ""
	case d.IsMountPoint():
		return isMountPoint
	case d.IsOfKernel():
		return isOfKernel
	case keepLinks && d.Stat.Nlink > 1:
		return hasHardLinks
	}
	return ""
}

// writesInPlace reports whether a file at a place is written in place.
func writesInPlace(h *Host, p safepath.Location) bool {
	d, err := p.OpenPath()
	if err != nil {
		return false
	}
	defer d.Close()
	return inPlaceReason(d, h.keepLinks) != ""
}

// openHeld opens the temporary file of a file that is written in place.
func (t *Temp) openHeld() error {
	hold := t.h.hold
	if t.inPlace == isOfKernel {
		hold = HoldUnrecorded
	}
	held, err := hold(t.name)
	if err != nil {
		return diag.Cannot("store", fmt.Sprintf("the new content of %s", t.name), err)
	}
	t.held, t.f, t.fd = held, held.File(), int(held.File().Fd())
	return nil
}

// commitInPlace writes the content over that of the file at the target.
func (t *Temp) commitInPlace() error {
	old, err := t.target.OpenXattrs()
	if err != nil {
		return safepath.PathError("open", t.name, err)
	}
	defer old.Close()
	if inPlaceReason(old, t.h.keepLinks) != t.inPlace {
		return fmt.Errorf("%s: %w", t.name, diag.Meanwhile("", "replaced"))
	}
	if err := t.h.announce(t.at(), true); err != nil {
		return err
	}
	info := safepath.InfoOf(&old.Stat)
	w := InPlace{Root: t.h.root, Path: t.target.Path(), Dev: info.Dev, Ino: info.Ino, Attr: t.attr}
	if err := t.held.Commit(w); err != nil {
		return diag.Cannot("store", fmt.Sprintf("the new content of %s", t.name), err)
	}
	begun, err := overwrite(t.h, t.target, old, t.f, t.attr)
	if err != nil && begun && t.inPlace != isOfKernel {
		t.finished = true
		t.target.Close()
		return errors.Join(fmt.Errorf("%w (the next run writes it again)", err), t.held.Close())
	}
	if err != nil {
		return err
	}
	t.finished = true
	return t.close()
}

// overwrite writes content over that of an open file, and sets its owner and mode before. Begun is set if the
// file may have changed.
func overwrite(h *Host, p safepath.Location, old *safepath.Handle, content *os.File, attr safepath.Attr) (begun bool, err error) {
	name := p.Path()
	if err := h.files.MayChange(p, &old.Stat); err != nil {
		return false, err
	}
	fd, err := p.Open(unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false, safepath.PathError("open", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { err = errors.Join(err, f.Close()) }()
	now, err := f.Stat()
	if err != nil {
		return false, err
	}
	if _, ino, ok := safepath.CTimeOf(now); !ok || ino != old.Stat.Ino {
		return false, fmt.Errorf("%s: %w", name, diag.Meanwhile("", "replaced"))
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	if old.IsOfKernel() {
		err := h.targetAt(p, name).SetAttr(old, attr)
		if err != nil {
			return false, err
		}
		return true, h.Effect("overwrite", name, func() error { return writeAtOnce(f, content) })
	}
	fi, err := content.Stat()
	if err != nil {
		return false, err
	}
	if err := safepath.Preallocate(fd, fi.Size()); err != nil {
		return false, safepath.PathError("write", name, err)
	}
	kept, _ := old.Xattrs()
	if h.xattrs != nil {
		kept = h.xattrs
	}
	if err := h.targetAt(p, name).SetAttr(old, attr); err != nil {
		return false, err
	}
	return true, h.Effect("overwrite", name, func() error {
		_, err := io.Copy(f, content)
		if err == nil {
			err = f.Truncate(fi.Size())
		}
		switch {
		case err != nil: // otherwise the write has cleared the capabilities
		case h.caps != nil && h.caps.Given:
			err = h.setCapabilities(fd, name, *h.caps)
		case h.caps == nil && kept[safepath.CapabilityXattr] != nil:
			_, errs := safepath.SetXattrs(fd, kept, func(name string) bool { return name == safepath.CapabilityXattr })
			warnOfXattrs(h.machine, name, errs)
		}
		if err == nil {
			err = safepath.PathError("sync", name, safepath.IgnoringEINTR(func() error { return safepath.Fsync(fd) }))
		}
		return err
	})
}

// MostKernelText is the largest content of a file of the kernel, in bytes.
const MostKernelText = 1 << 20

// writeAtOnce writes a content with one write(2): each is a value for the kernel.
func writeAtOnce(f *os.File, content io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(content, MostKernelText))
	if err != nil {
		return err
	}
	if _, err = f.Write(text); !errors.Is(err, unix.EINVAL) {
		return err
	}
	// An undo writes what was read: a list of values. The chosen one is in brackets.
	for word := range strings.FieldsSeq(string(text)) {
		if value, ok := strings.CutPrefix(word, "["); ok && strings.HasSuffix(value, "]") {
			_, err = f.Write([]byte(strings.TrimSuffix(value, "]")))
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", err, diag.Rejected("the kernel", "this value"))
	}
	return nil
}

// CompleteWrite writes a content in place that a dead process has held. It fails if another file
// is at the path by now.
func CompleteWrite(h *Host, w InPlace, content *os.File) error {
	p, err := h.files.At(w.Path)
	if err != nil {
		return safepath.PathError("open", w.Path, err)
	}
	defer p.Close()
	d, err := p.OpenXattrs()
	if err != nil {
		return safepath.PathError("open", w.Path, err)
	}
	defer d.Close()
	if uint64(d.Stat.Dev) != w.Dev || d.Stat.Ino != w.Ino {
		return ErrAnotherFile
	}
	_, err = overwrite(h, p, d, content, w.Attr)
	return err
}

// ErrAnotherFile means that another file is at a path than before.
var ErrAnotherFile = diag.Meanwhile("", "replaced")

// IsOfKernel reports whether the kernel generates the content of the file at a path, such as one
// in /sys. It is false for what a plan assumes there.
func IsOfKernel(v *View, name string) bool {
	if _, assumed := v.overlay.Assumed(name); assumed {
		return false
	}
	p, err := v.files.At(name)
	if err != nil {
		return false
	}
	defer p.Close()
	d, err := p.OpenPath()
	if err != nil {
		return false
	}
	defer d.Close()
	return d.IsOfKernel()
}

// ReadsBack reports whether a file of the kernel has a value: the text that it reads back is the
// same but for white space at the end, or a list in which the value is the chosen one, as in
// "none [mq-deadline] kyber".
func ReadsBack(v *View, name, value string) (bool, error) {
	text, err := v.ReadText(name, MostKernelText)
	if err != nil {
		return false, err
	}
	value = strings.TrimSpace(value)
	return strings.TrimSpace(text) == value || slices.Contains(strings.Fields(text), "["+value+"]"), nil
}

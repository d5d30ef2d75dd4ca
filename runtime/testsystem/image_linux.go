package testsystem

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filelock"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// imageLayers links the folders of an image in the folder of the system, and returns the names of the links, the topmost
// layer first. An image that is not a folder of the user is made once, and cached.
func imageLayers(ctx context.Context, r *Record) ([]string, error) {
	if r.Target.Driver == "" {
		return installed(ctx, r)
	}
	info, err := os.Stat(r.Target.Arg)
	if err == nil && info.Mode().IsRegular() {
		key := fmt.Sprint(r.Target.Arg, info.Size(), info.ModTime().UnixNano())
		return cached(ctx, r, "archive", key, time.Time{}, func(dir string) []string {
			return []string{"tar", "--numeric-owner", "--xattrs", "-C", dir, "-xpf", r.Target.Arg}
		})
	}
	var layers []string
	for path := range strings.SplitSeq(r.Target.Arg, ":") {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return nil, diag.Errorf(diag.Pos{}, "%s: %w", r.Target.Name, diag.Expected("a directory or tar archive at %s", path)).
				WithHint("join the layers of an overlay with :, the topmost first")
		}
		layers = append(layers, abs)
	}
	for _, init := range []string{"sbin/init", "usr/sbin/init", "lib/systemd/systemd", "usr/lib/systemd/systemd"} {
		for _, layer := range layers {
			if _, err := os.Lstat(filepath.Join(layer, init)); err == nil {
				return r.link(layers...)
			}
		}
	}
	return nil, diag.Errorf(diag.Pos{}, "%s: %w", r.Target.Name, ErrNoInit).WithHint("install systemd in it, or test it with root:DIR")
}

// installed returns the layers of a distribution.
func installed(ctx context.Context, r *Record) ([]string, error) {
	d := distributionOf(r.Target.Distribution)
	argv, needs := []string(nil), "mmdebstrap"
	if d.rpm {
		needs = "dnf"
		argv = []string{"dnf", "-y", "--releasever=" + r.Target.Release, "--setopt=install_weak_deps=False",
			"--setopt=tsflags=nodocs", "--installroot=DIR", "install"}
		argv = append(append(argv, d.name+"-release"), rpmPackages...)
	} else {
		name, err := d.codeName(r.Target.Release)
		if err != nil {
			return nil, err
		}
		argv = []string{"mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--format=directory", "--skip=cleanup/apt/lists,cleanup/apt/cache",
			`--customize-hook=chroot "$1" apt-get clean && chroot "$1" apt-cache gencaches > /dev/null`, // apt would parse the lists in each system
			"--include=" + strings.Join(debPackages, ","), `--aptopt=Acquire::Languages "none"`, name, "DIR"}
	}
	if _, err := exec.LookPath(needs); err != nil {
		return nil, diag.At(diag.Pos{}, fmt.Errorf("%s: %w", r.Target.Name, diag.ProgramNotFound("%s", needs))).
			WithHint("install %s, use --driver podman, or name an image of your own: image:PATH", needs)
	}
	return cached(ctx, r, strings.ReplaceAll(r.Target.Name, ":", "-"), strings.Join(argv, "\n"), r.pool.Oldest, func(dir string) []string {
		done := append([]string(nil), argv...)
		for i := range done {
			if d.rpm {
				done[i] = strings.Replace(done[i], "=DIR", "="+dir, 1)
			} else if done[i] == "DIR" {
				done[i] = dir
			}
		}
		return done
	})
}

// madeFormat is the time in the name of an image. It sorts by time.
const madeFormat = "20060102T150405Z"

// cached links an image that a command makes in a folder. The key has all that the image depends on. The image is made
// again when it is older than oldest; earlier ones are removed when no system uses them.
func cached(ctx context.Context, r *Record, name, key string, oldest time.Time, command func(dir string) []string) ([]string, error) {
	images := filepath.Join(r.pool.Dir, "images")
	if err := os.MkdirAll(images, 0o700); err != nil {
		return nil, err
	}
	prefix := filepath.Join(images, name+"-"+sha256sum.Short(key, 6))
	lock, err := lockFile(prefix+".lock", filelock.Lock)
	if err != nil {
		return nil, err
	}
	defer filelock.Close(lock) // after the link: an image with a link is not removed
	found, err := filepath.Glob(prefix + ".[0-9]*Z")
	if err != nil {
		return nil, err
	}
	var dir string
	if len(found) > 0 {
		dir = slices.Max(found)
		r.ImageTime, _ = time.Parse(madeFormat, strings.TrimPrefix(dir, prefix+"."))
	}
	if dir == "" || r.ImageTime.Before(oldest.Truncate(time.Second)) {
		r.making()
		half := prefix + ".new" // of a process that was killed
		if err := makeImage(ctx, r, half, command(half)); err != nil {
			return nil, err
		}
		r.ImageTime = time.Now().UTC().Truncate(time.Second)
		dir = prefix + "." + r.ImageTime.Format(madeFormat)
		if err := os.Rename(half, dir); err != nil {
			return nil, err
		}
	}
	for _, other := range found {
		if other != dir && !r.pool.uses(other) {
			if err := os.RemoveAll(other); err != nil {
				return nil, err
			}
		}
	}
	return r.link(dir)
}

// link links the layers of an image in the folder of a system, and returns the names of the links.
func (r *Record) link(layers ...string) (names []string, err error) {
	for i, layer := range layers {
		names = append(names, "layer"+strconv.Itoa(i))
		if err := os.Symlink(layer, filepath.Join(r.dir(), names[i])); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// uses reports whether a system is on an image.
func (p *Pool) uses(image string) bool {
	links, _ := filepath.Glob(filepath.Join(p.Dir, "run", "*", "layer*"))
	return slices.ContainsFunc(links, func(link string) bool {
		target, err := os.Readlink(link)
		return err == nil && target == image
	})
}

// makeImage runs a command that makes an image in a folder.
func makeImage(ctx context.Context, r *Record, dir string, argv []string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	log := r.pool.Log
	if log == nil {
		log = io.Discard
	}
	// Programs that install a system mount in it: a namespace of their own takes the mounts away with them.
	cmd := private(`exec "$@"`, argv...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr.Pdeathsig = unix.SIGTERM
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(unix.SIGTERM) })
	err := cmd.Wait()
	stop()
	if err != nil {
		_ = os.RemoveAll(dir)
		err = diag.Cannot("make", fmt.Sprintf("the image of %s: %s", r.Target.Name, argv[0]),
			cmp.Or(context.Cause(ctx), err))
		var disk unix.Statfs_t
		if unix.Statfs(filepath.Dir(dir), &disk) == nil {
			return withSpace(err, filepath.Dir(dir), disk.Bavail*uint64(disk.Bsize))
		}
		return err
	}
	return nil
}

// withSpace adds to the error of an image that there was too little space: the programs do not name it.
func withSpace(err error, dir string, free uint64) error {
	if free >= 1<<30 {
		return err
	}
	return diag.At(diag.Pos{}, err).WithHint("%s has %d MiB free, and an image takes up to 1 GiB: CCM_CACHE_DIR is another place", dir, free>>20)
}

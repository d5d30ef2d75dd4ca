package testsystem

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
)

// imageLayers returns the folders of an image, the topmost first. An image that is not a folder of the user is made
// once, and cached.
func imageLayers(ctx context.Context, r *Record) ([]string, error) {
	if r.Target.Driver == "" {
		return installed(ctx, r)
	}
	info, err := os.Stat(r.Target.Arg)
	if err == nil && info.Mode().IsRegular() {
		key := fmt.Sprint(r.Target.Arg, info.Size(), info.ModTime().UnixNano())
		return cached(ctx, r, "archive", key, func(dir string) []string {
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
				return layers, nil
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
		argv = []string{"mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--format=directory", "--skip=cleanup/apt/lists",
			"--include=" + strings.Join(debPackages, ","), `--aptopt=Acquire::Languages "none"`, name, "DIR"}
	}
	if _, err := exec.LookPath(needs); err != nil {
		return nil, diag.Errorf(diag.Pos{}, "%s: %s not found", r.Target.Name, needs).
			WithHint("install %s, use --driver podman, or name an image of your own: image:PATH", needs)
	}
	return cached(ctx, r, strings.ReplaceAll(r.Target.Name, ":", "-"), strings.Join(argv, "\n"), func(dir string) []string {
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

// cached returns an image that a command makes in a folder. The key has all that the image depends on.
func cached(ctx context.Context, r *Record, name, key string, command func(dir string) []string) ([]string, error) {
	images := filepath.Join(r.pool.Dir, "images")
	if err := os.MkdirAll(images, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(key))
	dir := filepath.Join(images, name+"-"+hex.EncodeToString(sum[:6]))
	lock, err := lockFile(dir+".lock", unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if _, err := os.Stat(dir); err == nil {
		return []string{dir}, nil
	}
	half := dir + ".new" // of a process that was killed
	if err := os.RemoveAll(half); err != nil {
		return nil, err
	}
	if err := os.Mkdir(half, 0o755); err != nil {
		return nil, err
	}
	log := r.pool.Log
	if log == nil {
		log = io.Discard
	}
	// Programs that install a system mount in it: a namespace of their own takes the mounts away with them.
	argv := command(half)
	cmd := private(`exec "$@"`, argv...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr.Pdeathsig = unix.SIGTERM
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(unix.SIGTERM) })
	err = cmd.Wait()
	stop()
	if err != nil {
		_ = os.RemoveAll(half)
		return nil, fmt.Errorf("cannot make the image of %s: %s: %w", r.Target.Name, argv[0], cmp.Or(context.Cause(ctx), err))
	}
	return []string{dir}, os.Rename(half, dir)
}

package testsystem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// container is podman or docker, by their command lines. It builds an image with systemd from that of the distribution.
type container struct{ program string }

func (d container) Name() string { return d.program }

func (d container) Check() error {
	if _, err := exec.LookPath(d.program); err != nil {
		return diag.Not(d.program, "installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := run(ctx, "", d.program, "info", "--format", "ok")
	return err
}

// containerfile makes an image that boots.
func containerfile(t Target) string {
	d := distributionOf(t.Distribution)
	install := "apt-get update && apt-get install -y --no-install-recommends " + strings.Join(debPackages, " ")
	if d.rpm {
		install = "dnf install -y " + strings.Join(rpmPackages, " ")
	}
	return fmt.Sprintf("FROM docker.io/library/%s:%s\nRUN %s\nSTOPSIGNAL SIGRTMIN+3\nCMD [\"/sbin/init\"]\n", d.image, t.Release, install)
}

func (d container) Make(ctx context.Context, r *Record) (System, error) {
	if r.Target.Driver != "" {
		return nil, diag.Expected("a distribution such as debian:12 for the driver %s", d.program).Got("%q", r.Target.Name)
	}
	image := "localhost/ccm-test-" + r.Target.Distribution + ":" + r.Target.Release
	if r.ImageTime = d.imageTime(ctx, image); r.ImageTime.IsZero() || r.ImageTime.Before(r.pool.Oldest) {
		r.making()
		argv := []string{d.program, "build", "--tag", image}
		if !r.ImageTime.IsZero() {
			argv = append(argv, "--no-cache", "--pull")
		}
		if _, err := run(ctx, containerfile(r.Target), append(argv, "-")...); err != nil {
			return nil, diag.Cannot("make", fmt.Sprintf("the image of %s", r.Target.Name), err)
		}
		r.ImageTime = d.imageTime(ctx, image)
	}
	if err := errors.Join(r.set("image", image), r.set("container", "ccm-test-"+r.Name)); err != nil {
		return nil, err
	}
	s := &containerSystem{d, r}
	return s, s.start(ctx)
}

// imageTime returns when an image was made, zero if there is no such image.
func (d container) imageTime(ctx context.Context, image string) (made time.Time) {
	if out, err := run(ctx, "", d.program, "image", "inspect", "--format", "{{json .Created}}", image); err == nil {
		_ = json.Unmarshal([]byte(out), &made)
	}
	return made
}

func (d container) Attach(ctx context.Context, r *Record) (System, error) {
	s := &containerSystem{d, r}
	return s, waitBooted(ctx, s, bootTime, nil)
}

func (d container) Reclaim(r *Record) error {
	var err error
	if name := r.Data["container"]; name != "" {
		_, err = run(context.Background(), "", d.program, "rm", "--force", "--volumes", name)
	}
	if image := r.Data["snapshot"]; image != "" {
		_, failure := run(context.Background(), "", d.program, "rmi", "--force", image)
		err = errors.Join(err, failure)
	}
	return err
}

type containerSystem struct {
	driver container
	record *Record
}

// start makes a container from the last snapshot, or from the image.
func (s *containerSystem) start(ctx context.Context) error {
	image := s.record.Data["snapshot"]
	if image == "" {
		image = s.record.Data["image"]
	}
	argv := []string{s.driver.program, "run", "--detach", "--name", s.record.Data["container"], "--hostname", s.record.hostName()}
	if s.driver.program == "podman" {
		argv = append(argv, "--systemd=always")
	} else {
		argv = append(argv, "--privileged", "--cgroupns=private", "--tmpfs", "/run", "--tmpfs", "/run/lock")
	}
	if _, err := run(ctx, "", append(argv, image, "/sbin/init")...); err != nil {
		return err
	}
	return waitBooted(ctx, s, bootTime, nil)
}

func (s *containerSystem) Exec(ctx context.Context, c Cmd) (int, error) {
	argv := []string{"exec", "--interactive"}
	if c.Terminal {
		argv = append(argv, "--tty")
	}
	for _, x := range environ(c, os.Getenv("TERM")) {
		argv = append(argv, "--env", x)
	}
	argv = append(append(argv, s.record.Data["container"]), c.Argv...)
	return runCommand(ctx, exec.CommandContext(ctx, s.driver.program, argv...), c)
}

func (s *containerSystem) Reboot(ctx context.Context) error {
	if _, err := run(ctx, "", s.driver.program, "restart", s.record.Data["container"]); err != nil {
		return err
	}
	return waitBooted(ctx, s, bootTime, nil)
}

func (s *containerSystem) Snapshot(ctx context.Context) error {
	image := "localhost/ccm-test-snapshot:" + s.record.Name
	if err := s.record.set("snapshot", image); err != nil {
		return err
	}
	_, err := run(ctx, "", s.driver.program, "commit", s.record.Data["container"], image)
	return err
}

func (s *containerSystem) Restore(ctx context.Context) error {
	if _, err := run(ctx, "", s.driver.program, "rm", "--force", "--volumes", s.record.Data["container"]); err != nil {
		return err
	}
	return s.start(ctx)
}

func (s *containerSystem) Keep(context.Context) error { return nil }

func (s *containerSystem) Remove(context.Context) error { return s.driver.Reclaim(s.record) }

package testsystem

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// instances is Incus or LXD, by their command lines. Their images have an init system, and they keep these themselves.
type instances struct{ name, program string }

// Names of what the drivers differ in.
const (
	incusName    = "incus"
	lxdName      = "lxd"
	snapshotName = "ccm-test"
)

func (d instances) Name() string { return d.name }

func (d instances) Check() error {
	if _, err := exec.LookPath(d.program); err != nil {
		return diag.Not(d.program, "installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := run(ctx, "", d.program, "list", "--format", "csv", "--columns", "n")
	return err
}

func (d instances) Make(ctx context.Context, r *Record) (System, error) {
	if r.Target.Driver != "" {
		return nil, diag.Expected("a distribution such as debian:12 for the driver %s", d.name).Got("%q", r.Target.Name)
	}
	if err := r.set("instance", "ccm-test-"+r.Name); err != nil {
		return nil, err
	}
	s := &instance{d, r, r.Data["instance"]}
	return s, s.launch(ctx)
}

func (d instances) Attach(ctx context.Context, r *Record) (System, error) {
	s := &instance{d, r, r.Data["instance"]}
	return s, waitBooted(ctx, s, bootTime, nil)
}

func (d instances) Reclaim(r *Record) error {
	name := r.Data["instance"]
	if name == "" {
		return nil
	}
	names, err := run(context.Background(), "", d.program, "list", "--format", "csv", "--columns", "n")
	if err == nil && slices.Contains(strings.Fields(names), name) {
		_, err = run(context.Background(), "", d.program, "delete", "--force", name)
	}
	return err
}

// instance is a container of Incus or LXD.
type instance struct {
	driver instances
	record *Record
	name   string
}

func (s *instance) run(ctx context.Context, args ...string) error {
	_, err := run(ctx, "", append([]string{s.driver.program}, args...)...)
	return err
}

// launch makes the instance from its image, and boots it.
func (s *instance) launch(ctx context.Context) error {
	t := s.record.Target
	if err := s.run(ctx, "launch", "images:"+distributionOf(t.Distribution).image+"/"+t.Release, s.name); err != nil {
		return diag.Cannot("make", t.Name, err)
	}
	return waitBooted(ctx, s, bootTime, nil)
}

func (s *instance) Exec(ctx context.Context, c Cmd) (int, error) {
	argv := []string{"exec", s.name, "--mode=non-interactive"}
	if c.Terminal {
		argv[2] = "--mode=interactive"
	}
	for _, x := range environ(c, os.Getenv("TERM")) {
		argv = append(argv, "--env", x)
	}
	argv = append(append(argv, "--"), c.Argv...)
	return runCommand(ctx, exec.CommandContext(ctx, s.driver.program, argv...), c)
}

func (s *instance) Reboot(ctx context.Context) error {
	if err := s.run(ctx, "restart", s.name); err != nil {
		return err
	}
	return waitBooted(ctx, s, bootTime, nil)
}

func (s *instance) Snapshot(ctx context.Context) error {
	argv := []string{"snapshot", "create", s.name, snapshotName, "--reuse"}
	if s.driver.name == lxdName {
		argv = slices.Delete(argv, 1, 2)
	}
	return errors.Join(s.run(ctx, argv...), s.record.set("snapshot", snapshotName))
}

func (s *instance) Restore(ctx context.Context) error {
	if s.record.Data["snapshot"] == "" {
		if err := s.run(ctx, "delete", "--force", s.name); err != nil {
			return err
		}
		return s.launch(ctx)
	}
	argv := []string{"snapshot", "restore", s.name, snapshotName}
	if s.driver.name == lxdName {
		argv = argv[1:]
	}
	if err := s.run(ctx, argv...); err != nil {
		return err
	}
	return waitBooted(ctx, s, bootTime, nil)
}

func (s *instance) Keep(context.Context) error { return nil }

func (s *instance) Remove(context.Context) error { return s.driver.Reclaim(s.record) }

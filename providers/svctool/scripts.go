package svctool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Scripts is a provider of services that are scripts in a directory, defined by the differences
// between the programs that run them.
type Scripts struct {
	// Init is the name of the init system.
	Init string
	// Tools are lists of commands. Of each list the provider needs one command.
	Tools [][]string
	// Here returns an error unless the init system runs the machine of v.
	Here func(v *host.View) error
	// Dirs are the directories of the scripts.
	Dirs []string
	// Command returns the words of a command. The verb is start, stop, restart, reload or status.
	Command func(verb, name string) []string
	// Meaning interprets the answer to status.
	Meaning func(res host.Result) (Activity, error)
	// CanReload reports whether a service can reload, given its script.
	CanReload func(ctx context.Context, v *host.View, name, script string) (bool, error)
	// Levels returns the runlevels in which a service is started at boot.
	Levels func(v *host.View, name string) ([]string, error)
	// EnableCommands and DisableCommands return the commands that make a service start at boot,
	// and that remove it from the runlevels returned by Levels.
	EnableCommands  func(v *host.View, name string) [][]string
	DisableCommands func(v *host.View, name string, levels []string) [][]string
	// Reset returns the words of a command that has to precede the start of a crashed service; nil
	// if there is none.
	Reset func(name string) []string
	// Wait waits between two looks: Pause, except in tests.
	Wait Wait

	mu       sync.Mutex // one command at a time
	startups Startups[string]
}

// An Activity is the activity of a service.
type Activity struct {
	// Word is the init system's word for it.
	Word string
	// Running is set if the service runs. Moving is set if it is starting or, with Stops, stopping.
	// Crashed is set if it does not run, and the init system still lists it as running.
	Running, Moving, Stops, Crashed bool
}

var (
	_ resources.ServiceProvider             = (*Scripts)(nil)
	_ resource.Predictor[resources.Service] = (*Scripts)(nil)
	_ resource.Lister                       = (*Scripts)(nil)
)

// Suits returns the machines for s. The commands are searched for in path, or in the PATH of this
// process if that is empty.
func (s *Scripts) Suits(v *host.View, path string) resource.Suitability[resources.Service] {
	return func(f *facts.Facts, _ resources.Service) (int, error) {
		v := Machine(f, v)
		for _, either := range s.Tools {
			var first error
			found := slices.ContainsFunc(either, func(tool string) bool {
				_, err := v.LookPath(tool, path, "")
				if first == nil {
					first = err
				}
				return err == nil
			})
			if !found {
				return 0, first
			}
		}
		return 1, s.Here(v)
	}
}

// Machine returns the machine that f describes if it is not running, and otherwise v.
func Machine(f *facts.Facts, v *host.View) *host.View {
	if m := f.View(); m.Offline() != "" {
		return m
	}
	return v
}

// CheckBooted returns an error unless a service manager runs the machine of v: then the directory booted exists. On a
// machine that is not running, it has to be the one that boots it. Its name is in messages, init is that of facts.
func CheckBooted(v *host.View, name, init, booted string) error {
	if v.Offline() != "" {
		found, err := facts.BootsWith(v)
		if err == nil && found != init {
			err = errors.New("it does not boot with " + name)
		}
		return err
	}
	switch ok, err := v.IsDirectory(booted); {
	case err != nil:
		return err
	case !ok && v.Root() != "/":
		return fmt.Errorf("%s does not run below %s: %s does not exist", name, v.Root(), booted)
	case !ok:
		return fmt.Errorf("%s does not run this machine: %s does not exist", name, booted)
	}
	return nil
}

// Describe implements resource.SelfDescriber.
func (s *Scripts) Describe() resource.Description {
	return resource.Description{
		Doc:      "Controls service scripts with the commands of " + s.Init + ".",
		Commands: slices.Concat(s.Tools...),
	}
}

// Predict implements resource.Predictor.
func (*Scripts) Predict(context.Context, *host.View, resources.Service) (string, error) {
	return "", overlay.NeedsRoot("only root can change services of the system")
}

// Names implements resource.Lister.
func (s *Scripts) Names(_ context.Context, v *host.View, prefix string) (names []string, err error) {
	for _, dir := range s.Dirs {
		entries, err := Entries(v, dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if !strings.HasPrefix(entry, prefix) {
				continue
			}
			if there, err := isScript(v, filepath.Join(dir, entry)); there && err == nil {
				names = append(names, entry)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// isScript reports whether path is an executable file.
func isScript(v *host.View, path string) (bool, error) {
	info, err := v.Stat(path)
	return err == nil && info.Kind == safepath.Regular && info.Mode&0o111 != 0, err
}

// Entries returns the names in a directory, none if there is not a directory.
func Entries(v *host.View, dir string) ([]string, error) {
	if ok, err := v.IsDirectory(dir); !ok {
		return nil, err
	}
	return v.ReadDir(dir)
}

// script returns the path of a service, "" if there is none.
func (s *Scripts) script(v *host.View, name string) (string, error) {
	for _, dir := range s.Dirs {
		path := filepath.Join(dir, name)
		if kind, ok := v.Overlay().Assumed(path); ok && kind != safepath.Missing {
			return "", &resource.UnknownError{Reason: "the script " + path + " is pending"}
		} else if ok {
			continue
		}
		if there, err := isScript(v, path); there || err != nil {
			return path, err
		}
	}
	return "", nil
}

// Status implements resources.ServiceProvider.
func (s *Scripts) Status(ctx context.Context, v *host.View, want resources.Service) (have resources.ServiceState, err error) {
	if want.Scope == resources.UserService {
		return have, diag.Expected("a service of a user").Found("%s: only systemd supports these", s.Init)
	}
	if err := s.Here(v); err != nil {
		return have, err
	}
	script, err := s.script(v, want.ServiceName())
	if err != nil || script == "" {
		return resources.ServiceState{Missing: err == nil}, err
	}
	if v.Offline() != "" {
		levels, err := s.Levels(v, want.ServiceName())
		have = resources.ServiceState{Offline: v.Offline(), Active: "stopped", Enabled: len(levels) > 0, Startup: strings.Join(levels, " ")}
		if want.Mask != nil {
			have.CannotMask = s.Init + " does not support masks"
		}
		return have, err
	}
	if err := s.watchStart(ctx, v, want); err != nil {
		return have, err
	}
	now, err := s.settled(ctx, v, want.ServiceName())
	if err != nil && want.Ensure != resources.ServiceUnmanaged {
		return have, err
	}
	if now.Moving && now.Stops && want.Ensure != resources.ServiceUnmanaged {
		return have, fmt.Errorf("service is still starting or stopping: %s", now.Word)
	}
	levels, err := s.Levels(v, want.ServiceName())
	if err != nil {
		return have, err
	}
	have = resources.ServiceState{
		Running: now.Running, Active: now.Word, Starting: now.Moving,
		Enabled: len(levels) > 0, Startup: strings.Join(levels, " "),
	}
	if want.Mask != nil {
		have.CannotMask = s.Init + " does not support masks"
	}
	if want.MayReload() {
		can, err := s.CanReload(ctx, v, want.ServiceName(), script)
		if err != nil {
			return have, err
		}
		have.CannotReload = !can
	}
	return have, nil
}

// settled returns the activity of a service, after waiting for one that is starting or stopping.
func (s *Scripts) settled(ctx context.Context, v *host.View, name string) (now Activity, err error) {
	now, err = s.ask(ctx, v, name)
	_, interrupted := s.Wait.Settle(ctx, func() []int {
		return make([]int, map[bool]int{true: 1}[err == nil && now.Moving])
	}, func([]int) { now, err = s.ask(ctx, v, name) })
	return now, errors.Join(err, interrupted)
}

// ask asks whether a service runs.
func (s *Scripts) ask(ctx context.Context, v *host.View, name string) (Activity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := host.Cmd{Argv: s.Command("status", name)}
	res, err := v.Query(ctx, c)
	if err != nil {
		return Activity{}, err
	}
	now, err := s.Meaning(res)
	if err != nil {
		err = fmt.Errorf("%s: %w: %w%s", c, diag.ExitStatus(res.Code), err, res.LastWords())
	}
	return now, err
}

// do runs commands that change something.
func (s *Scripts) do(ctx context.Context, h *host.Host, commands ...[]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, argv := range commands {
		c := host.Cmd{Argv: argv}
		res, err := h.Run(ctx, c)
		if err == nil {
			err = res.Err(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Start implements resources.ServiceProvider.
func (s *Scripts) Start(ctx context.Context, h *host.Host, want resources.Service) error {
	if s.Reset != nil {
		now, err := s.ask(ctx, &h.View, want.ServiceName())
		if err == nil && now.Crashed {
			err = s.do(ctx, h, s.Reset(want.ServiceName()))
		}
		if err != nil {
			return err
		}
	}
	return s.bringUp(ctx, h, "start", "started", want)
}

// Restart implements resources.ServiceProvider.
func (s *Scripts) Restart(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.bringUp(ctx, h, "restart", "started", want)
}

// Reload implements resources.ServiceProvider.
func (s *Scripts) Reload(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.bringUp(ctx, h, "reload", "reloaded", want)
}

// bringUp performs a verb after which the service has to be up.
func (s *Scripts) bringUp(ctx context.Context, h *host.Host, verb, did string, want resources.Service) error {
	if err := s.do(ctx, h, s.Command(verb, want.ServiceName())); err != nil {
		return err
	}
	if err := s.checkStarted(ctx, &h.View, want.ServiceName(), did); err != nil {
		return err
	}
	if want.Settle > 0 {
		s.startups.Add(want.ServiceName(), h.Now(), did)
	}
	return nil
}

// watchStart returns an error if a service that was started in this run does not stay up for its
// settle time.
func (s *Scripts) watchStart(ctx context.Context, v *host.View, want resources.Service) error {
	return s.startups.Watch(ctx, v, s.Wait, want.ServiceName(), want, func(did string) (bool, error) {
		return false, s.checkStarted(ctx, v, want.ServiceName(), did)
	})
}

// checkStarted returns an error if a started service neither runs nor is starting.
func (s *Scripts) checkStarted(ctx context.Context, v *host.View, name, did string) error {
	now, err := s.ask(ctx, v, name)
	if err == nil && !now.Running && (!now.Moving || now.Stops) {
		err = fmt.Errorf("%w: the service was %s and is not running (%s)", resource.ErrDesiredStateFailed, did, now.Word)
	}
	return err
}

// Stop implements resources.ServiceProvider.
func (s *Scripts) Stop(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.do(ctx, h, s.Command("stop", want.ServiceName()))
}

// Enable implements resources.ServiceProvider.
func (s *Scripts) Enable(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.do(ctx, h, s.EnableCommands(&h.View, want.ServiceName())...)
}

// Disable implements resources.ServiceProvider.
func (s *Scripts) Disable(ctx context.Context, h *host.Host, want resources.Service) error {
	levels, err := s.Levels(&h.View, want.ServiceName())
	if err != nil {
		return err
	}
	return s.do(ctx, h, s.DisableCommands(&h.View, want.ServiceName(), levels)...)
}

// Mask implements resources.ServiceProvider. It is not called, because Status reports that there are no
// masks.
func (s *Scripts) Mask(context.Context, *host.Host, resources.Service) error {
	return diag.SubjectCannot(s.Init, "mask services")
}

// Unmask implements resources.ServiceProvider.
func (s *Scripts) Unmask(ctx context.Context, h *host.Host, want resources.Service) error {
	return s.Mask(ctx, h, want)
}

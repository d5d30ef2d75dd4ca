// Package site makes a catalog of a script or manifest, runs it, and records the run. All
// commands and Studio share it.
//
// Begin with a [Process], which holds what all runs of a process share:
//
//	run, err := process.ReadRun(ctx, "site.lua", args, &site.RunOptions{...})
//	defer run.End()
//	err = run.Begin(ctx)
//	summary := run.Converge(ctx)
//
// [Process.Load] reads a site without running it. A [OneOff] converges resources that are in no
// file. A [Recorder] records what is not a run of a site.
package site

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/trust"
	"github.com/luaccm/ccm/site/remote"
)

// A Process is shared by all sites and runs of a process. Clock, Files and Messages are required.
type Process struct {
	Clock host.Clock
	// Stop ends the present work. May be nil.
	Stop StopSignal
	// Effect is asked before each effect on the machine and in the state directory;
	// see host.Options. May be nil.
	Effect   func(op, path string) error
	Commands *command.Commands // the commands of hosts
	Stdin    io.Reader         // the content of the file -
	Secrets  *secret.Keeper
	Files    *Files
	Messages *Messages
	State    StateDirectory
	// Log takes the output of commands outside of runs with a log of their own; nil drops it.
	Log *slog.Logger
	// ObserveLook is called for commands and facts that take time. May be nil.
	ObserveLook LookObserver
	// Version is ccm.version of scripts.
	Version string
	// Modules are directories that scripts search for modules.
	Modules []string
	// NewHost makes the hosts of runs; nil is host.New.
	NewHost func(host.Options) *host.Host
	// Substitutes are providers that replace all others of their types.
	Substitutes []resource.Binding
	// Providers are providers besides those that ship with ccm, with their types.
	Providers []resource.Binding
	// Passphrase asks for the passphrase of an identity. Nil does not ask.
	Passphrase func(file string) ([]byte, error)
	// BeforePrompt is called before a question on the terminal, and done after it, so that a
	// status line makes way. May be nil.
	BeforePrompt func() (done func())
	// Overdue is called if an evaluation goes far beyond its limits and cannot be ended: the process has to end. Nil
	// waits for it.
	Overdue func(reason error)
	// Sequential makes runs look at and write each resource only in its turn.
	Sequential bool

	remote    *remote.Client   // nil until needed
	decrypter *askingDecrypter // nil until needed
}

// Close ends the connections of the process, and removes what [NoState] needed. It can be used again after that.
func (p *Process) Close() {
	p.State.close()
	if p.remote != nil {
		p.remote.Close()
	}
}

// Remote returns the client for servers that have sites, data and registrations.
func (p *Process) Remote() *remote.Client {
	if p.remote == nil {
		p.remote = remote.New(p.Files.Trust)
	}
	return p.remote
}

// readRemote reads remote data. Shown is its name in messages.
func (p *Process) readRemote(name, natsContext string) (shown string, text []byte, err error) {
	ctx, cancel := p.Stop.Context(p.Files.ctx)
	defer cancel()
	shown, text, err = p.Remote().Read(ctx, name, natsContext)
	return shown, text, p.Stop.Interruption(ctx, err)
}

// runner returns the runner of real commands.
func (p *Process) runner() host.Runner {
	exec := command.Exec{Commands: p.Commands}
	if p.ObserveLook == nil {
		return exec
	}
	return lookingRunner{exec, p}
}

// hostOf returns the machine of the options as a host whose changes are not recorded.
func (p *Process) hostOf(o *Options) *host.Host {
	return p.newHost(host.Options{Root: o.Root, Offline: offline(o.Offline), Log: p.Log, Runner: p.runner()})
}

// Host returns the machine below root, as a host whose changes are not recorded.
func (p *Process) Host(root string) *host.Host {
	return p.newHost(host.Options{Root: root, Log: p.Log, Runner: p.runner()})
}

// offline is the reason for Offline of [Options].
func offline(yes bool) string {
	if yes {
		return "--offline"
	}
	return ""
}

// newHost returns the host for the options. In a container without an init system, no services run.
func (p *Process) newHost(o host.Options) *host.Host {
	o.AskNoServers = o.Offline != "" // an image may be built without a network
	if o.Offline == "" && filepath.Clean("/"+o.Root) == "/" {
		o.Offline = facts.WithoutInit()
	}
	o.Clock, o.Refuse, o.Foreign, o.Decrypt = p.Clock, p.Secrets.RefuseArgv, true, p.decryption().file // the decryption is made before there are goroutines
	if p.NewHost != nil {
		return p.NewHost(o)
	}
	return host.New(o)
}

// ReadInput returns the text of a script or manifest and its name in messages; - is standard
// input. The name of an entered bundle represents the script or manifest in it, see
// bundles.Enter.
func (p *Process) ReadInput(ctx context.Context, name string) (shown, text string, err error) {
	if name == "-" {
		ctx, cancel := p.Stop.Context(ctx)
		defer cancel()
		all, err := trust.ReadStream(ctx, p.Stdin, Stdin)
		return Stdin, string(all), p.Stop.Interruption(ctx, err)
	}
	if p.Files.Bundle != nil && name == p.Files.Bundle.Name {
		name = p.Files.Bundle.Entry
	}
	if text, ok := p.Files.edited(name); ok {
		return name, text, nil
	}
	ctx, cancel := p.Stop.Context(ctx)
	defer cancel()
	limit := int64(safepath.LargestText)
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".yaml" || ext == ".yml" {
		limit = safepath.LargestManifest
	}
	text, err = p.Files.Trust().ReadText(ctx, name, limit)
	if err != nil {
		err = explainInput(name, err, limit)
	}
	return name, text, p.Stop.Interruption(ctx, err)
}

// explainInput adds a hint to the error about a file of more than limit bytes, or about the folder of a site.
func explainInput(name string, err error, limit int64) error {
	if fi, e := os.Stat(name); e == nil && fi.Mode().IsRegular() && fi.Size() > limit {
		return diag.At(diag.Pos{File: name}, errors.Unwrap(err)).WithHint("split it into several files, and list them with apply")
	}
	for _, entry := range []string{"site.lua", "manifest.yaml"} {
		file := filepath.Join(name, entry)
		if fi, e := os.Stat(file); e == nil && fi.Mode().IsRegular() {
			return diag.At(diag.Pos{File: name}, diag.Expected("a script or manifest").Found("a directory")).WithHint("did you mean %s?", file)
		}
	}
	return err
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/site"
)

// profileEnv names the variable that names the file of a CPU profile.
const profileEnv = "CCM_CPUPROFILE"

// profile writes a CPU profile of the whole process to the file in CCM_CPUPROFILE, for "go tool
// pprof". The returned function ends the profile.
func profile() (end func() error, err error) {
	name := os.Getenv(profileEnv)
	if name == "" {
		return func() error { return nil }, nil
	}
	return writeProfile(profileEnv, name)
}

// writeProfile writes a CPU profile to a file until the returned function is called. Origin names
// the flag or variable in messages.
func writeProfile(origin, name string) (end func() error, err error) {
	h := host.New(host.Options{})
	err = h.Save(name, nil, 0o644) // a file that cannot be written is reported before the work
	var text bytes.Buffer
	if err == nil {
		err = pprof.StartCPUProfile(&text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", origin, err)
	}
	return func() error {
		pprof.StopCPUProfile()
		if err := h.Save(name, text.Bytes(), 0o644); err != nil {
			return fmt.Errorf("%s: %w", origin, err)
		}
		return nil
	}, nil
}

// A profileFlag is --profile, which may have the name of a file.
type profileFlag struct {
	asked bool
	file  string
}

// noProfileFile is the value of the flag without a value. The help shows it: --profile[=FILE].
const noProfileFile = "FILE"

// add adds the flag to a command.
func (f *profileFlag) add(cmd *cobra.Command) {
	cmd.Flags().Var(f, "profile", "show where time was spent (=FILE also writes a Go CPU profile)")
	cmd.Flags().Lookup("profile").NoOptDefVal = noProfileFile
}

// String implements pflag.Value.
func (f *profileFlag) String() string { return f.file }

// Type implements pflag.Value.
func (*profileFlag) Type() string { return "" }

// Set implements pflag.Value.
func (f *profileFlag) Set(s string) error {
	if s == "" {
		return diag.Expected("a file name or no value")
	}
	if f.asked = true; s != noProfileFile {
		f.file = s
	}
	return nil
}

// profiled runs a command and, with --profile, prints last where the time went.
func profiled(ctx context.Context, e *cli.Env, f *profileFlag, run func(context.Context, *site.Timings) error) (err error) {
	if !f.asked {
		return run(ctx, nil)
	}
	if f.file != "" {
		if os.Getenv(profileEnv) != "" {
			return fmt.Errorf("--profile=%s: %w", f.file, diag.Conflicting("", profileEnv))
		}
		end, err := writeProfile("--profile", f.file)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	timings := site.NewTimings(e.Clock, e.Began, e.StartCPU)
	err = run(ctx, timings)
	timings.End()
	timings.Print(e.Stderr)
	return err
}

package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/fleet/registry"
	"github.com/luaccm/ccm/runtime/registration"
	"github.com/luaccm/ccm/site"
)

// addStreamFlag adds the flag about the stream of the registry.
func addStreamFlag(fs *pflag.FlagSet, o *site.DataOptions) {
	fs.StringVarP(&o.Registry.Stream, "registration", "R", "", "keep and find services in this `STREAM` of NATS (default "+registration.DefaultStream+")")
}

// newRegisterChoice returns the values of --register.
func newRegisterChoice() *choice {
	return newChoice("", string(registry.Stored), string(registry.Core), string(site.RegisterNothing))
}

// registerUsage describes --register.
const registerUsage = "tell the registry what resources register (register_when_stable): jetstream waits until it is stored, nats sends it to whoever listens, none does nothing (default " + site.RegisterVariable + ")"

// chooseRegister puts into the options what the flag or the environment says.
func chooseRegister(flag *choice, o *site.DataOptions) error {
	if flag == nil {
		return nil
	}
	if text := os.Getenv(site.RegisterVariable); flag.value == "" && text != "" {
		if err := flag.Set(text); err != nil {
			return fmt.Errorf("%s: %w", site.RegisterVariable, err)
		}
	}
	o.Registry.Mode = registry.Mode(flag.value)
	return nil
}

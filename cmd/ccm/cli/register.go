package cli

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/fleet/registry"
	"github.com/luaccm/ccm/runtime/registration"
	"github.com/luaccm/ccm/site"
)

// AddStreamFlag adds the flag about the stream of the registry.
func AddStreamFlag(fs *pflag.FlagSet, o *site.DataOptions) {
	fs.StringVarP(&o.Registry.Stream, "registration", "R", "", "NATS `STREAM` of the service registry (default "+registration.DefaultStream+")")
}

// NewRegisterChoice returns the values of --register.
func NewRegisterChoice() *Choice {
	return NewChoice("", string(registry.Stored), string(registry.Core), string(site.RegisterNothing))
}

// RegisterUsage describes --register.
const RegisterUsage = "announce services in NATS: jetstream, nats or none (default " + site.RegisterVariable + ")"

// ChooseRegister sets the register in the options from the flag or the environment.
func ChooseRegister(flag *Choice, o *site.DataOptions) error {
	if flag == nil {
		return nil
	}
	if text := os.Getenv(site.RegisterVariable); flag.Value == "" && text != "" {
		if err := flag.Set(text); err != nil {
			return fmt.Errorf("%s: %w", site.RegisterVariable, err)
		}
	}
	o.Registry.Mode = registry.Mode(flag.Value)
	return nil
}

package facts

import (
	"context"
	"fmt"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// gatherSELinux reads the present mode from the file system that the kernel has only with SELinux. The mode at boot
// is in a file (selinux_config(5)), whose keywords libselinux reads in any case.
func gatherSELinux(_ context.Context, v *host.View) (any, error) {
	const enforce, config = "/sys/fs/selinux/enforce", "/etc/selinux/config"
	digit, err := readText(running(v), enforce)
	if err != nil {
		return nil, err
	}
	mode, ok := map[string]string{"": "disabled", "0": "permissive", "1": "enforcing"}[digit]
	if !ok {
		return nil, fmt.Errorf("%s: %w", enforce, diag.Expected("0 or 1").Got("%.20q", digit))
	}
	text, err := readText(installed(v), config)
	if err != nil {
		return nil, err
	}
	// A line that cannot be read says nothing; the others still do.
	vars, _ := ParseEnv(config, text)
	branch := map[string]any{"enabled": mode != "disabled", "mode": mode}
	switch word := strings.ToLower(vars["SELINUX"]); word {
	case "enforcing", "permissive", "disabled":
		branch["config_mode"] = word
	}
	put(branch, "config_policy", vars["SELINUXTYPE"])
	return branch, nil
}

package apt

import (
	"context"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// checkArchitecture returns an error if dpkg takes no packages of the architecture of n. Apt may offer such a package
// all the same, from a repository whose index has several architectures. If dpkg does not answer, the error is nil.
func checkArchitecture(ctx context.Context, v *host.View, n name) error {
	if n.arch == "" || n.arch == "all" {
		return nil
	}
	var known []string
	for _, option := range []string{"--print-architecture", "--print-foreign-architectures"} {
		res, err := v.Query(ctx, host.Cmd{Argv: []string{"dpkg", option}})
		if err != nil || res.Code != 0 {
			return nil
		}
		known = append(known, strings.Fields(string(res.Stdout))...)
	}
	if slices.Contains(known, n.arch) {
		return nil
	}
	return diag.Not("architecture "+n.arch, "enabled, only %s (run dpkg --add-architecture %s, then apt-get update)", strings.Join(known, ", "), n.arch)
}

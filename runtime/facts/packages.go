package facts

import (
	"context"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// gatherPackages returns the version of each installed package, by name, from dpkg or rpm. Of a
// package with several architectures or versions, the last one in their lists counts.
func gatherPackages(ctx context.Context, v *host.View) (any, error) {
	v = installed(v)
	manager, err := packageManager(v)
	if err != nil {
		return nil, err
	}
	switch manager {
	case "apt":
		return dpkgVersions(v)
	case "dnf", "yum", "microdnf", "zypper":
		return rpmVersions(ctx, v)
	}
	return nil, nil
}

// dpkgVersions reads the status file of dpkg: paragraphs of fields (deb822(5)).
func dpkgVersions(v *host.View) (any, error) {
	text, err := readText(v, "/var/lib/dpkg/status")
	if err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		var name, version string
		there := false
		for line := range strings.Lines(paragraph) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch key {
			case "Package":
				name = value
			case "Version":
				version = value
			case "Status":
				there = strings.HasSuffix(value, " installed")
			}
		}
		if there {
			branch[name] = version
		}
	}
	return branch, nil
}

// rpmVersions asks rpm.
func rpmVersions(ctx context.Context, v *host.View) (any, error) {
	cmd := host.Cmd{Argv: []string{"rpm", "-qa", "--queryformat", `%{NAME}\t%{EVR}\n`}}
	if v.Root() != "/" {
		cmd.Argv, cmd.BelowRoot = append(cmd.Argv, "--root", v.Root()), true
	}
	res, err := v.Query(ctx, cmd)
	if err == nil {
		err = res.Err(cmd)
	}
	if err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	for line := range strings.Lines(string(res.Stdout)) {
		if name, version, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			branch[name] = version
		}
	}
	return branch, nil
}

package facts

import (
	"context"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
)

func gatherOS(ctx context.Context, v *host.View) (any, error) {
	k, err := readKernel(ctx, v)
	if err != nil {
		return nil, err
	}
	release, err := readRelease(installed(v))
	if err != nil {
		return nil, err
	}
	branch := map[string]any{"arch": goArch(k.machine), "kernel": k.release}
	if arch := programArch(installed(v)); arch != "" {
		branch["arch"] = arch
	}
	if release == nil {
		return branch, nil
	}
	branch["family"] = family(release)
	likes := []any{}
	for id := range strings.FieldsSeq(release["ID_LIKE"]) {
		likes = append(likes, id)
	}
	branch["id_like"] = likes
	for name, key := range map[string]string{
		"name": "NAME", "id": "ID", "release": "VERSION_ID", "codename": "VERSION_CODENAME", "pretty_name": "PRETTY_NAME",
	} {
		put(branch, name, release[key])
	}
	parts := strings.Split(release["VERSION_ID"], ".")
	for i, name := range []string{"release_major", "release_minor"} {
		if i >= len(parts) {
			break
		}
		num, err := strconv.ParseUint(parts[i], 10, 31)
		if err != nil {
			break
		}
		branch[name] = int64(num)
	}
	return branch, nil
}

// programArch returns the architecture of the shell of an image, "" for this machine.
func programArch(v *host.View) string {
	if v.CommandRoot() == "/" {
		return ""
	}
	name, err := host.FollowLink(v, "/bin/sh")
	if err != nil {
		return ""
	}
	f, err := v.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	return command.ELFArch(f)
}

// goArch returns the name that Go, and mostly Debian, has for a machine that
// the kernel calls by another.
func goArch(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	case "i386", "i486", "i586", "i686":
		return "386"
	case "loongarch64":
		return "loong64"
	}
	if strings.HasPrefix(machine, "armv") {
		return "arm"
	}
	return machine
}

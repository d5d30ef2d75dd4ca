package facts

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/shirou/gopsutil/v4/common"

	"github.com/luaccm/ccm/runtime/host"
)

// Facts of a root other than / come from two places. Facts about installed software are read below the root. A root
// without an operating system is only a prefix, and has the facts of this machine, as it has its users. Facts about
// the running system, of the kernel in /proc and /sys, are read below the root if a /proc is mounted there, else they
// are those of this machine.

// releaseFiles describe the distribution (os-release(5)); the first existing file counts.
var releaseFiles = []string{"/etc/os-release", "/usr/lib/os-release"}

// installed returns the view for facts about installed software.
func installed(v *host.View) *host.View {
	if v.Root() == "/" {
		return v
	}
	for _, name := range releaseFiles {
		if there, err := v.Exists(name); there || err != nil {
			return v
		}
	}
	return thisMachine()
}

// running returns the view for facts about the running system.
func running(v *host.View) *host.View {
	if v.Root() == "/" {
		return v
	}
	if names, err := v.ReadDir("/proc"); err == nil && len(names) == 0 || missing(err) {
		return thisMachine()
	}
	return v
}

func thisMachine() *host.View { return &host.New(host.Options{}).View }

// forGopsutil returns a context in which gopsutil looks where v does.
func forGopsutil(ctx context.Context, v *host.View) context.Context {
	root := running(v).Root()
	return context.WithValue(ctx, common.EnvKey, common.EnvMap{
		common.HostProcEnvKey: filepath.Join(root, "proc"),
		common.HostSysEnvKey:  filepath.Join(root, "sys"),
		common.HostDevEnvKey:  filepath.Join(root, "dev"),
		common.HostRunEnvKey:  filepath.Join(root, "run"),
		common.HostRootEnvKey: root,
		common.HostEtcEnvKey:  filepath.Join(installed(v).Root(), "etc"),
		common.HostVarEnvKey:  filepath.Join(installed(v).Root(), "var"),
	})
}

// missing reports whether err says that a file does not exist.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// largestText is the maximum number of bytes in a file that is read for facts.
const largestText = 64 << 20

// readText returns the text of a file without surrounding space, and "" if the file does not exist.
// A file longer than largestText is an error.
func readText(v *host.View, name string) (string, error) {
	text, err := v.ReadUpTo(name, largestText)
	if missing(err) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// firstText returns the text of the first nonempty file.
func firstText(v *host.View, names ...string) (string, error) {
	for _, name := range names {
		if text, err := readText(v, name); text != "" || err != nil {
			return text, err
		}
	}
	return "", nil
}

// put sets a fact, unless there is none: text that is empty is absent.
func put(branch map[string]any, name, text string) {
	if text != "" {
		branch[name] = text
	}
}

package site

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
)

// largestSELinuxConfig is the size up to which selinux_config(5) is read, in bytes.
const largestSELinuxConfig = 64 << 10

// labelFiles gives the files of an image the contexts of its SELinux policy, which the kernel of this machine does not
// know. An image without a policy, or which boots without SELinux, has none.
func labelFiles(ctx context.Context, h *host.Host) error {
	if h.CommandRoot() == "/" {
		return nil
	}
	const config = "/etc/selinux/config"
	text, err := h.ReadText(config, largestSELinuxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	settings, _ := facts.ParseEnv(config, text) // as libselinux, which takes no notice of other lines
	contexts := path.Join("/etc/selinux", settings["SELINUXTYPE"], "contexts/files/file_contexts")
	if there, err := h.Exists(contexts); !there || strings.EqualFold(settings["SELINUX"], "disabled") {
		return err
	}
	root := h.CommandRoot()
	argv := []string{"setfiles", "-q", "-F", "-r", root}
	mounts, err := h.MountsBelow("/")
	if err != nil {
		return err
	}
	for _, at := range mounts {
		argv = append(argv, "-e", filepath.Join(root, at))
	}
	c := host.Cmd{Argv: append(argv, filepath.Join(root, contexts), root), BelowRoot: true}
	res, err := h.Run(ctx, c)
	if _, missing := errors.AsType[*command.NotFoundError](err); missing {
		return diag.Errorf(diag.Pos{}, "%v", err).WithHint("install policycoreutils, or have the files labeled at the first boot: touch %s", filepath.Join(root, ".autorelabel"))
	}
	if err != nil {
		return err
	}
	return res.Err(c)
}

// labelFilesOrWarn warns if the files could not be labeled: the changes are made.
func (r *Recorder) labelFilesOrWarn(ctx context.Context, h *host.Host) {
	if err := labelFiles(ctx, h); err != nil {
		r.process.Messages.Warn("SELinux: " + err.Error())
	}
}

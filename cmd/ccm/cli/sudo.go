package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/command"
)

// AddSudoFlag adds the flag that has a command run as root.
func AddSudoFlag(fs *pflag.FlagSet) {
	fs.Bool("sudo", false, "run the command as root with sudo")
}

// BecomeRoot replaces this process by sudo with the same command line. It returns only if that
// fails or if ccm is root already. Nothing was read before: root reads its files itself, and judges
// them as for the user who types sudo (package trust).
func BecomeRoot(args []string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	argv, env, err := UnderSudo(command.DefaultPath, args, os.Environ())
	if err != nil {
		return err
	}
	return fmt.Errorf("--sudo: %s: %w", argv[0], syscall.Exec(argv[0], argv, env))
}

// UnderSudo returns the command line that runs ccm as root with the arguments, and its environment.
func UnderSudo(path string, args, environ []string) (argv, env []string, err error) {
	sudo := ""
	for _, dir := range append(filepath.SplitList(path), "/run/wrappers/bin") { // the last one is NixOS
		if found, err := exec.LookPath(filepath.Join(dir, "sudo")); err == nil && sudo == "" {
			sudo = found
		}
	}
	if sudo == "" {
		return nil, nil, diag.Errorf(diag.Pos{}, "--sudo: sudo not found in %s", path).WithHint("run ccm as root, or install sudo")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("--sudo: %w", err)
	}
	for _, entry := range environ {
		if !strings.HasPrefix(entry, "PATH=") {
			env = append(env, entry)
		}
	}
	return append([]string{sudo, "-u", "root", "--", self}, args...), append(env, "PATH="+path), nil
}

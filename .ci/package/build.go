package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A builder builds the files of a release.
type builder struct {
	root, out string
	release   *release
	facts     facts
	archives  bool     // make archives too
	made      []string // files in out
	versions  []string // patterns of the names of these files in any version
}

// runHooks runs the hooks before the build, which make man pages and completions.
func (b *builder) runHooks() error {
	for _, hook := range b.release.Before.Hooks {
		if err := b.command(nil, strings.Fields(hook)...); err != nil {
			return err
		}
	}
	return nil
}

// command runs a command in the checkout, with its output on standard error.
func (b *builder) command(env []string, argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.root, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", b.facts.CommitTimestamp))
	cmd.Env = append(cmd.Env, env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return nil
}

// target returns facts with the system and architecture that target names: armv7, or darwin-arm64.
func (x *build) target(f facts, target string) (facts, error) {
	f.Os, f.Arch = "linux", target
	if system, arch, ok := strings.Cut(target, "-"); ok {
		f.Os, f.Arch = system, arch
	}
	if arm, ok := strings.CutPrefix(f.Arch, "armv"); ok {
		f.Arch, f.Arm = "arm", arm
	}
	ignored := slices.ContainsFunc(x.Ignore, func(i struct{ GOOS, GOARCH string }) bool { return i.GOOS == f.Os && i.GOARCH == f.Arch })
	if ignored || !slices.Contains(x.GOOS, f.Os) || !slices.Contains(x.GOARCH, f.Arch) || f.Arm != "" && !slices.Contains(x.GOARM, f.Arm) {
		return f, fmt.Errorf("want one of %s, arm as armv%s, for %s", strings.Join(x.GOARCH, ", "), strings.Join(x.GOARM, ", armv"), strings.Join(x.GOOS, ", "))
	}
	return f, nil
}

// buildFor builds the program, and its archive or, for Linux, also its packages.
func (b *builder) buildFor(target string) error {
	x := b.release.Builds[0]
	f, err := x.target(b.facts, target)
	if err != nil {
		return err
	}
	program := filepath.Join(b.out, f.Os+"-"+strings.TrimPrefix(target, f.Os+"-"), x.Binary)
	argv := append([]string{"go", "build", "-o", program}, x.Flags...)
	var flags []string
	for _, text := range x.LDFlags {
		text, err := f.expand(text)
		if err != nil {
			return err
		}
		flags = append(flags, text)
	}
	argv = append(argv, "-ldflags", strings.Join(flags, " "), x.Main)
	if err := b.command(append(slices.Clone(x.Env), "GOFLAGS=", "GOOS="+f.Os, "GOARCH="+f.Arch, "GOARM="+f.Arm), argv...); err != nil {
		return err
	}
	for _, format := range b.release.NFPMs[0].Formats {
		if f.Os != "linux" {
			break
		}
		if err := b.pack(f, format, program); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	if b.archives {
		if err := b.archive(f, program); err != nil {
			return err
		}
	}
	name, err := b.expandName(f, b.release.SBOMs[0].Documents[0], "")
	if err != nil {
		return err
	}
	b.made = append(b.made, name)
	return writeSBOM(program, f.Version, filepath.Join(b.out, name))
}

// expandName returns the name of a file from a template and a suffix, and records the pattern of that name in any
// version.
func (b *builder) expandName(f facts, template, end string) (string, error) {
	name, err := f.expand(template)
	if err != nil {
		return "", err
	}
	f.Version, f.ConventionalFileName = "*", f.anyConventionalFileName
	pattern, err := f.expand(template)
	b.versions = append(b.versions, pattern+end)
	return name + end, err
}

// removeOthers removes other versions of the files made. Otherwise a pattern for packages, as in apt-get install
// ./dist/ccm_*.deb, would match them too.
func (b *builder) removeOthers() error {
	for _, pattern := range b.versions {
		names, err := filepath.Glob(filepath.Join(b.out, pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			if slices.Contains(b.made, filepath.Base(name)) {
				continue
			}
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeChecksums writes the SHA-256 of all files made, in the form of sha256sum.
func (b *builder) writeChecksums() error {
	slices.Sort(b.made)
	var sums strings.Builder
	for _, name := range b.made {
		text, err := os.ReadFile(filepath.Join(b.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), name)
		fmt.Println(filepath.Join(b.out, name))
	}
	return os.WriteFile(filepath.Join(b.out, b.release.Checksum.NameTemplate), []byte(sums.String()), 0o644)
}

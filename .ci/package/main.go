// Package builds the packages of ccm as release.yaml describes them: the program, man pages and completions, deb, rpm and
// apk, an archive, an SBOM (CycloneDX), and checksums. It needs no network once its modules are downloaded. Builds are
// reproducible: the same commit gives the same bytes.
//
//	package [-root DIR] [-out DIR] [-formats deb,rpm,tar.gz] ARCH|SYSTEM-ARCH...
//
// For systems other than Linux, such as darwin-arm64, it builds an archive alone. The version is the variable VERSION, or
// else the output of .ci/version; the time is SOURCE_DATE_EPOCH, or else that of the commit.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", "../..", "the checkout of ccm in `DIR`")
	out := flag.String("out", "../../dist", "write to `DIR`")
	formats := flag.String("formats", "", "build these `FORMATS` alone, with commas between")
	flag.Parse()
	err := run(*root, *out, strings.FieldsFunc(*formats, func(r rune) bool { return r == ',' }), flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

// releaseFile describes the release.
const releaseFile = ".ci/package/release.yaml"

// run builds the packages for architectures and systems named as in the README, such as armv7 and darwin-arm64.
func run(root, out string, formats, archs []string) error {
	release, err := readRelease(filepath.Join(root, releaseFile))
	if err != nil {
		return err
	}
	archive := len(formats) == 0 || slices.Contains(formats, release.Archives[0].Formats[0])
	if len(formats) > 0 {
		release.NFPMs[0].Formats = slices.DeleteFunc(release.NFPMs[0].Formats, func(f string) bool { return !slices.Contains(formats, f) })
	}
	facts, err := readFacts(root)
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	b := &builder{root: root, out: out, release: release, facts: facts, archives: archive}
	if err := b.runHooks(); err != nil {
		return err
	}
	for _, arch := range archs {
		if err := b.buildFor(arch); err != nil {
			return fmt.Errorf("%s: %w", arch, err)
		}
	}
	if err := b.removeOthers(); err != nil {
		return err
	}
	return b.writeChecksums()
}

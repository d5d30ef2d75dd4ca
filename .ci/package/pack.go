package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // registers its format
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// pack makes a package with a program.
func (b *builder) pack(f facts, format, program string) error {
	info, err := b.info(f, format, program)
	if err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	f.ConventionalFileName = packager.ConventionalFileName(info)
	f.anyConventionalFileName = anyVersion(packager, *info)
	name, err := b.expandName(f, b.release.NFPMs[0].FileNameTemplate, "")
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(b.out, name))
	if err != nil {
		return err
	}
	if err := packager.Package(info, file); err != nil {
		file.Close()
		return err
	}
	b.made = append(b.made, name)
	return file.Close()
}

// anyVersion returns a pattern of a package's names in any version.
func anyVersion(p nfpm.Packager, info nfpm.Info) string {
	info.Version, info.Prerelease, info.VersionMetadata = "*", "", ""
	return p.ConventionalFileName(&info)
}

// info returns the description of a package for nfpm.
func (b *builder) info(f facts, format, program string) (*nfpm.Info, error) {
	p := b.release.NFPMs[0]
	scripts := p.Overrides[format].Scripts
	for _, script := range []*string{&scripts.PreInstall, &scripts.PostInstall, &scripts.PreRemove, &scripts.PostRemove} {
		if *script != "" {
			*script = filepath.Join(b.root, *script)
		}
	}
	mtime, err := f.timeOf(p.MTime)
	if err != nil {
		return nil, err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: p.PackageName, Arch: f.Arch + f.Arm, Platform: f.Os, Version: f.Version, Release: p.Release,
		Section: p.Section, Priority: p.Priority, Maintainer: p.Maintainer, Description: p.Description,
		Vendor: p.Vendor, Homepage: p.Homepage, License: p.License, MTime: mtime,
		Overridables: nfpm.Overridables{Umask: p.Umask, Recommends: p.Recommends, RPM: p.RPM, Scripts: scripts},
	})
	if format == "apk" {
		// Versions of apk have no place for a commit, and no dots in a suffix (apk-package(5)).
		info.VersionMetadata, info.Prerelease = "", strings.ReplaceAll(info.Prerelease, ".", "_")
	}
	for _, c := range p.Contents {
		at, err := f.timeOf(c.FileInfo.MTime)
		if err != nil {
			return nil, err
		}
		source := c.Source
		if source != "" {
			source = filepath.Join(b.root, source)
		}
		info.Contents = append(info.Contents, &files.Content{
			Source: source, Destination: c.Destination, Type: c.Type, Packager: c.Packager,
			FileInfo: &files.ContentFileInfo{Mode: c.FileInfo.Mode, MTime: at},
		})
	}
	info.Contents = append(info.Contents, &files.Content{
		Source: program, Destination: path.Join(p.Bindir, filepath.Base(program)),
		FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: mtime},
	})
	return info, nil
}

// timeOf returns the time of a template.
func (f facts) timeOf(text string) (time.Time, error) {
	text, err := f.expand(text)
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("mtime: %w", err)
	}
	return at, nil
}

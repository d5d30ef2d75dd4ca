package main

import (
	"bytes"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/goreleaser/nfpm/v2"
)

// A release is the content of release.yaml. A key that is not here is a mistake.
type release struct {
	ProjectName string `yaml:"project_name"`
	Before      struct{ Hooks []string }
	Builds      []build
	NFPMs       []packages
	Checksum    struct {
		NameTemplate string `yaml:"name_template"`
	}
	SBOMs    []struct{ Documents []string }
	Archives []archives
}

// A build describes the build of the program.
type build struct {
	Main, Binary        string
	Env, Flags          []string
	LDFlags             []string `yaml:"ldflags"`
	GOOS, GOARCH, GOARM []string
	Ignore              []struct{ GOOS, GOARCH string }
}

// packages is the part about deb, rpm and apk. Some names differ from those of nfpm.
type packages struct {
	PackageName      string `yaml:"package_name"`
	FileNameTemplate string `yaml:"file_name_template"`
	Formats          []string

	Vendor, Maintainer, Homepage, License, Description string
	Section, Priority, Release, Bindir, MTime          string

	Umask      os.FileMode
	Recommends []string
	RPM        nfpm.RPM
	Contents   []content
	Overrides  map[string]struct{ Scripts nfpm.Scripts }
}

// A content is a file of a package.
type content struct {
	Source      string `yaml:"src"`
	Destination string `yaml:"dst"`
	Type        string
	Packager    string
	FileInfo    struct {
		Mode  os.FileMode
		MTime string
	} `yaml:"file_info"`
}

func readRelease(file string) (*release, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	r := new(release)
	if err := dec.Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(r.Builds) != 1 || len(r.Archives) != 1 || len(r.NFPMs) != 1 || len(r.SBOMs) != 1 || len(r.SBOMs[0].Documents) != 1 {
		return nil, fmt.Errorf("%s: want one of each: builds, archives, nfpms, sboms", file)
	}
	return r, nil
}

package apt

import (
	"fmt"
	"regexp"
	"strings"
)

// A name is the name of a package, with an architecture if the user gave one.
// Without, it means the package in whatever architecture it is installed in.
type name struct{ pkg, arch string }

// dpkg itself allows capitals and underscores, although the policy does not.
var nameSyntax = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+._-]+(:[a-z0-9-]+)?$`)

// parseName reads zsh or libc6:i386. apt gives some names a meaning of its own,
// such as the removal of what stands before a trailing hyphen; they are refused.
func parseName(s string) (name, error) {
	pkg, arch, _ := strings.Cut(s, ":")
	switch {
	case !nameSyntax.MatchString(s):
		return name{}, fmt.Errorf("want the name of a Debian package such as zsh or libc6:i386, got %q", s)
	case strings.HasSuffix(pkg, "-"):
		return name{}, fmt.Errorf("want the name of a Debian package, got %q: apt takes a hyphen at the end for a wish to remove", s)
	case arch == "any" || arch == "native":
		return name{}, fmt.Errorf("want an architecture such as amd64, got %q", arch)
	}
	return name{pkg, arch}, nil
}

// String formats n as dpkg and apt read it.
func (n name) String() string {
	if n.arch == "" {
		return n.pkg
	}
	return n.pkg + ":" + n.arch
}

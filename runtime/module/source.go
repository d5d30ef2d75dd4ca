package module

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// gitSchemes are the protocols that a repository may have.
var gitSchemes = []string{"https", "http", "ssh", "file"}

// CheckGit returns an error unless a text is the address of a repository that is safe for git: a URL of https, http,
// ssh or file, or user@host:path. Other addresses make git run commands (ext::) or look like an option.
func CheckGit(s string) error {
	if err := checkAddress(s); err != nil {
		return err
	}
	if scheme, _, ok := strings.Cut(s, "://"); ok {
		if !slices.Contains(gitSchemes, scheme) {
			return diag.Expected("an address of %s", strings.Join(gitSchemes, ", ")).Got("%q", s)
		}
		u, err := url.Parse(s)
		switch {
		case err != nil:
			return diag.Not(strconv.Quote(s), "a URL")
		case scheme != "file" && (u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-")):
			return diag.Lacks(strconv.Quote(s), "a server")
		case scheme == "file" && u.Host != "":
			return diag.Expected("use three slashes, as in file:///srv/git/nginx.git").Got("%q", s)
		case u.User != nil && strings.HasPrefix(u.User.Username(), "-"):
			return diag.Lacks(strconv.Quote(s), "a user")
		}
		if _, has := u.User.Password(); has {
			return diag.Contains("address", "a password, which would be in the lock file: use git's credential helper")
		}
		return nil
	}
	// user@host:path, the form of scp
	host, at, ok := strings.Cut(s, ":")
	if !ok || host == "" || strings.Contains(host, "/") || strings.HasPrefix(at, ":") {
		return fmt.Errorf("repository %q: %w", s, diag.Expected("https://example.org/nginx.git, git@example.org:nginx.git or file:///srv/git/nginx.git"))
	}
	if _, host, ok := strings.Cut(host, "@"); ok && (host == "" || host[0] == '-') {
		return diag.Lacks(strconv.Quote(s), "a server")
	}
	return nil
}

// CheckURL returns an error unless a text is the URL of an archive.
func CheckURL(s string) error {
	if err := checkAddress(s); err != nil {
		return err
	}
	u, err := url.Parse(strings.ReplaceAll(s, VersionMark, "1"))
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return diag.Expected("a URL of https or http").Got("%q", s)
	case !strings.HasSuffix(u.Path, ".tar.gz") && !strings.HasSuffix(u.Path, ".tgz"):
		return diag.Expected("an archive that ends in .tar.gz or .tgz").Got("%q", s)
	}
	if _, has := u.User.Password(); has {
		return diag.Contains("address", "a password, which would be in the lock file")
	}
	return nil
}

// VersionMark stands for the version, without its v, in the URL of an archive.
const VersionMark = "{version}"

// At returns the URL of the archive of a version.
func (s Source) At(version string) string {
	return strings.ReplaceAll(s.URL, VersionMark, strings.TrimPrefix(version, "v"))
}

// checkAddress refuses texts that cannot be an address, or that a program could take for an option.
func checkAddress(s string) error {
	switch {
	case s == "":
		return diag.Expected("an address")
	case s[0] == '-':
		return diag.Expected("an address").Got("the option %q", s)
	case len(s) > 2000:
		return diag.Exceeds("address", "2000 bytes")
	}
	for _, c := range s {
		if c <= ' ' || c == 0x7f || c == '\\' {
			return diag.Contains(fmt.Sprintf("%q", s), "a space or control character")
		}
	}
	return nil
}

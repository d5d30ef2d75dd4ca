package safepath

import (
	"fmt"
	"strings"
)

// Xattrs are the extended attributes of a file (xattr(7)) by their names. Access lists, file capabilities and the
// SELinux label are among them.
type Xattrs map[string][]byte

// Names of attributes with an effect of their own.
const (
	// AccessListXattr is the POSIX access list. To set it sets the mode too.
	AccessListXattr = "system.posix_acl_access"
	// DefaultListXattr is the access list that new entries of a directory begin with.
	DefaultListXattr = "system.posix_acl_default"
	// CapabilityXattr is the file capabilities. A write to the file and a change of its owner clear them.
	CapabilityXattr = "security.capability"
)

// An XattrError reports that an attribute could not be read or set.
type XattrError struct {
	Name string
	Err  error
}

// Error names the attribute.
func (e *XattrError) Error() string { return fmt.Sprintf("attribute %s: %v", e.Name, e.Err) }

// Unwrap returns the reason.
func (e *XattrError) Unwrap() error { return e.Err }

// isKeptXattr reports whether a replaced file passes an attribute on. The kernel's digests of content (IMA, EVM) are
// those of the old content.
func isKeptXattr(name string) bool {
	space, _, _ := strings.Cut(name, ".")
	switch space {
	case "user", "trusted", "btrfs":
		return true
	case "security":
		return name != "security.ima" && name != "security.evm"
	}
	return name == AccessListXattr || name == DefaultListXattr || name == "system.nfs4_acl"
}

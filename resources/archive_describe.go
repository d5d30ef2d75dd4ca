package resources

import (
	"time"

	"github.com/luaccm/ccm/runtime/resource"
)

var _ resource.Describer = ArchiveState{}

// ArchiveMetadata is the description of an archive.
type ArchiveMetadata struct {
	Name          string    `json:"name"`
	Checksum      string    `json:"checksum,omitempty"` // SHA-256
	ArchiveExists bool      `json:"archive_exists"`
	CreatesExists bool      `json:"creates_exists"`
	Owner         string    `json:"owner,omitempty"`
	Group         string    `json:"group,omitempty"`
	MTime         time.Time `json:"mtime,omitzero"`
	Size          *int64    `json:"size,omitempty"`
	Provider      string    `json:"provider,omitempty"`
}

// Describe implements resource.Describer.
func (s ArchiveState) Describe(name, provider string) any {
	m := ArchiveMetadata{Name: name, Provider: provider, ArchiveExists: s.ArchiveExists, CreatesExists: s.CreatesExists}
	if s.ArchiveExists {
		m.Checksum, m.Owner, m.Group, m.MTime, m.Size = s.Checksum, s.Owner, s.Group, s.MTime.UTC(), &s.Size
	}
	return m
}

package luatype

import (
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// The values of the property links of a type that edits.
const (
	linksRefuse  = "refuse"
	linksFollow  = "follow"
	linksReplace = "replace"
)

// linkProperties are the properties of all types that edit about symbolic and hard links. A type that
// defines one of them itself gives it its own meaning.
var linkProperties = []schema.Property{
	{
		Name: "links", Type: scalars["string"], Values: []string{linksRefuse, linksFollow, linksReplace}, Default: linksRefuse,
		Doc: "How to handle a symbolic link at the path: refuse fails, follow edits the target, replace replaces the link with the edited text. A link of another user is followed only to files of that user.",
	},
	{
		Name: "hardlinks", Type: scalars["string"], Values: []string{"replace", "keep"}, Default: "replace",
		Doc: "How to handle a file with several hard links. With replace, the other names keep the old content; with keep, the file is written in place, so that all names have the new content.",
	},
}

// linksOf returns what is wanted of a symbolic link in the place of the edited file.
func (d *definition) linksOf(want *resource.Properties) string {
	if !d.managesLinks {
		return linksRefuse
	}
	return want.Text("links")
}

// keepsHardLinks reports whether a file with several hard links is written in place.
func (d *definition) keepsHardLinks(want *resource.Properties) bool {
	return d.managesLinks && want.Text("hardlinks") == "keep"
}

// editedFile returns the path of a file that may be written together with other edits of it, or "" if
// the edit writes it by itself: at another path or in another way.
func (d *definition) editedFile(want *resource.Properties) string {
	if d.linksOf(want) != linksRefuse || d.keepsHardLinks(want) {
		return ""
	}
	return filePath(want)
}

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/reference"
)

// TypeAnnotation marks the commands that are for a type.
const TypeAnnotation = "ccm.type"

// DescribeTypes fills in the help of the type commands below cmd, from the types of reg.
func DescribeTypes(cmd *cobra.Command, reg *resource.Registry) error {
	documented, err := site.Documented()
	if err != nil {
		return err
	}
	types := make(map[string]*resource.Type)
	for _, t := range slices.Concat(reg.Types(), documented.Types()) {
		types[t.Name] = t
	}
	for _, sub := range cmd.Commands() {
		if t := types[sub.Annotations[TypeAnnotation]]; t != nil {
			doc := strings.Join(strings.Fields(t.Schema().Doc), " ")
			sub.Short = reference.ShortOf(t)
			sub.Long = terminal.Wrap(doc, "", terminal.TextWidth)
			schema.Describe(sub.Flags())
		}
	}
	return nil
}

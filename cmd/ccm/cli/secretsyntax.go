package cli

import (
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/luaapi/tabletext"
	"github.com/luaccm/ccm/runtime/encryption"
)

// SecretSyntax returns the syntax of a document whose values can be encrypted, nil of other files.
func SecretSyntax(file string) encryption.Syntax {
	if strings.ToLower(filepath.Ext(file)) == ".lua" {
		return tabletext.Syntax{}
	}
	return encryption.SyntaxOf(file)
}

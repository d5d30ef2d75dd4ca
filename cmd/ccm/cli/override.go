package cli

import (
	"encoding/json"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/diag"
)

// AddUnsavedFlag adds the flag by which editors pass texts that are not saved yet.
func AddUnsavedFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("unsaved", false, `for editors: read unsaved files from stdin as {"FILE": "text", ...}`)
}

// ReadUnsaved reads the texts of --unsaved, if that flag is given.
func ReadUnsaved(e *Env, cmd *cobra.Command) error {
	if f := cmd.Flag("unsaved"); f == nil || f.Value.String() != "true" {
		return nil
	}
	_, text, err := e.ReadInput(cmd.Context(), "-")
	if err != nil {
		return err
	}
	var given map[string]string
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return diag.Errorf(diag.Pos{}, "--unsaved: %w", diag.Expected(`{"FILE": "text", ...} on standard input: %w`, err))
	}
	texts := map[string]string{}
	for name, text := range given {
		path, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		texts[path] = text
	}
	e.Files.EditedText = func(path string) (string, bool) {
		text, ok := texts[path]
		return text, ok
	}
	return nil
}

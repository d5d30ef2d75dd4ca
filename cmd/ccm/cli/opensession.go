package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/session"
)

// OpenSession returns the session that the flag of a command and the environment
// name, nil if there is none.
func OpenSession(cmd *cobra.Command, e *Env) (*session.Session, error) {
	dir, set := os.LookupEnv(session.Variable)
	if f := cmd.Flag("session"); f != nil && f.Changed {
		dir, set = f.Value.String(), true
	}
	switch {
	case !set:
		return nil, nil
	case dir == "":
		return nil, diag.At(diag.Pos{}, diag.Expected("the directory of a session").Got("an empty one")).
			WithHint(`start one with: eval "$(ccm session new)"; leave it with: unset %s`, session.Variable)
	}
	policy := e.Files.Trust()
	s, err := session.Open(dir)
	if err == nil {
		s.Secrets = e.Secrets
		err = policy.Check(dir)
	}
	if path := filepath.Join(dir, session.FileName); err == nil {
		if err = policy.Check(path); errors.Is(err, fs.ErrNotExist) {
			err = nil // nobody has appended anything yet
		}
	}
	return s, err
}

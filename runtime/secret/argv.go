package secret

import (
	"errors"
	"fmt"
	"slices"
)

// ErrArgv is the error that a secret is among the arguments of a command.
var ErrArgv = errors.New("its arguments contain a secret, and every user can read them: pass it in the environment, on standard input or in a file")

// RefuseArgv returns an error if there is a secret among the words of a command.
func (k *Keeper) RefuseArgv(argv []string) error {
	if !k.Any() {
		return nil
	}
	if slices.ContainsFunc(argv, k.Contains) {
		return fmt.Errorf("%s: %w", k.Redact(argv[0]), ErrArgv)
	}
	return nil
}

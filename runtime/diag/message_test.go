package diag_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
)

func TestMessages(t *testing.T) {
	for want, err := range map[string]error{
		"expected a list":                                diag.Expected("a list"),
		`expected one of a, b, got "c"`:                  diag.Expected("one of %s, %s", "a", "b").Got("%q", "c"),
		"expected a file, found a directory (100%)":      diag.Expected("a file").Found("%s (100%%)", "a directory"),
		"must be at least 1, got 0":                      diag.MustBe("at least %d", 1).Got("%d", 0),
		"must be 1 to 65535":                             diag.MustBe("1 to 65535"),
		`unknown property "mdoe" (did you mean "mode"?)`: diag.Unknown("property", "mdoe", []string{"owner", "mode"}),
		`unknown property "x"`:                           diag.Unknown("property", "x", []string{"owner", "mode"}),
		`no such user "app"`:                             diag.NotFound("user", "app"),
		"source is required":                             diag.Required("source"),
		"is required":                                    diag.Required(""),
		"source is required unless ensure is absent":     diag.RequiredUnless("source", "ensure is absent"),
		"is required unless ensure is absent":            diag.RequiredUnless("", "ensure is absent"),
		"--target and --tags cannot be used together":    diag.Conflicting("--target", "--tags"),
		"cannot be used together with url":               diag.Conflicting("", "url"),
		"a.lua:2: expected a list":                       diag.At(diag.Pos{File: "a.lua", Line: 2}, diag.Expected("a list")),
	} {
		require.EqualError(t, err, want)
	}
}

// Errors that are a part of a message are found in it.
func TestMessagesWrap(t *testing.T) {
	for _, err := range []error{
		diag.Expected("JSON: %w", fs.ErrNotExist),
		diag.Expected("JSON: %w", fs.ErrNotExist).Got("%q", "x"),
		diag.Expected("a file").Found("%q: %w", "x", fs.ErrNotExist),
		diag.At(diag.Pos{}, diag.Expected("a file").Found("%w", fs.ErrNotExist)),
	} {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	require.NoError(t, errors.Unwrap(diag.Expected("a file")))
	require.NoError(t, errors.Unwrap(diag.Expected("a file").Got("%s", "nothing")))
}

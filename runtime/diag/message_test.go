package diag_test

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
)

func TestMessages(t *testing.T) {
	for want, err := range map[string]error{
		"expected a list":                                diag.Expected("a list"),
		`unexpected ")"`:                                 diag.InExpression(`unexpected token Bracket(")")`),
		"unexpected end of the expression":               diag.InExpression("unexpected token EOF"),
		"unterminated text":                              diag.InExpression("literal not terminated"),
		"unknown name x":                                 diag.InExpression("unknown name x\n"),
		`expected one of a, b, got "c"`:                  diag.Expected("one of %s, %s", "a", "b").Got("%q", "c"),
		"expected a file, found a directory (100%)":      diag.Expected("a file").Found("%s (100%%)", "a directory"),
		"must be at least 1, got 0":                      diag.MustBe("at least %d", 1).Got("%d", 0),
		"must be 1 to 65535":                             diag.MustBe("1 to 65535"),
		`unknown property "mdoe"`:                        diag.Unknown("property", "mdoe", []string{"owner", "mode"}),
		`unknown property "x"`:                           diag.Unknown("property", "x", []string{"owner", "mode"}),
		`no such user "app"`:                             diag.NotFound("user", "app", nil),
		"no such page":                                   diag.NotFound("page", "", nil),
		`no such user "app" (did you mean "apps"?)`:      diag.At(diag.Pos{}, diag.NotFound("user", "app", []string{"apps"})),
		`a: unknown key "onwer" (did you mean "owner"?)`: diag.Errorf(diag.Pos{}, "a: %w", diag.Unknown("key", "onwer", []string{"owner"})),
		"source is required":                             diag.Required("source"),
		"is required":                                    diag.Required(""),
		"source is required unless ensure is absent":     diag.RequiredUnless("source", "ensure is absent"),
		"is required unless ensure is absent":            diag.RequiredUnless("", "ensure is absent"),
		"--target and --tags cannot be used together":    diag.Conflicting("--target", "--tags"),
		"cannot be used together with url":               diag.Conflicting("", "url"),
		"a.lua:2: expected a list":                       diag.At(diag.Pos{File: "a.lua", Line: 2}, diag.Expected("a list")),
		`no recipients in "a.yaml"`:                      diag.None("recipients in %q", "a.yaml"),
		"a%b.txt is not a directory":                     diag.Not("a%b.txt", "a directory"),
		"not a list of 3":                                diag.Not("", "a list of %d", 3),
		"a.txt does not exist":                           diag.Missing("a.txt", ""),
		"a.txt does not exist in v2":                     diag.Missing("a.txt", "in %s", "v2"),
		"a.txt already exists":                           diag.Exists("a.txt", ""),
		"a.txt already exists with 3 lines (100%)":       diag.Exists("a.txt", "with %d lines (100%%)", 3),
		"bundle 3 no longer exists":                      diag.Gone("bundle 3"),
		"a.txt is in use by another process":             diag.InUse("a.txt", "another process"),
		"in use by another process":                      diag.InUse("", "another process"),
		"evaluation failed":                              diag.Failed("evaluation", nil),
		"evaluation failed: file does not exist":         diag.Failed("evaluation", fs.ErrNotExist),
		"exit status 3":                                  diag.ExitStatus(3),
		"server rejected the credentials":                diag.Rejected("server", "the credentials"),
		"interrupted":                                    diag.Interrupted(""),
		"interrupted while waiting":                      diag.Interrupted("while waiting"),
		"node1 is already revoked":                       diag.Already("node1", "revoked"),
		`duplicate key "a"`:                              diag.Duplicate("key %q", "a"),
		"--out requires --output json":                   diag.Requires("--out", "--output json"),
		"requires root":                                  diag.Requires("", "root"),
		"text exceeds the limit of 16 MiB":               diag.Exceeds("text", "%d MiB", 16),
		"exceeds the limit of 3 hosts":                   diag.Exceeds("", "3 hosts"),
		"cannot lock a: file does not exist":             diag.Cannot("lock", "a", fs.ErrNotExist),
		"cannot lock a":                                  diag.Cannot("lock", "a", nil),
		"a job cannot span environments":                 diag.SubjectCannot("a job", "span environments"),
		"backup 1 is damaged: file does not exist":       diag.Damaged("backup 1", fs.ErrNotExist),
		"backup 1 is damaged":                            diag.Damaged("backup 1", nil),
		"invalid condition: file does not exist":         diag.Invalid("condition", fs.ErrNotExist),
		"a.txt was replaced meanwhile":                   diag.Meanwhile("a.txt", "replaced"),
		"replaced meanwhile":                             diag.Meanwhile("", "replaced"),
		"archive is truncated":                           diag.Truncated("archive"),
		"archive is empty":                               diag.Empty("archive"),
		"run exceeded the time limit of 1s":              diag.Exceeded("run", "time", "1s"),
		"tag lacks a date":                               diag.Lacks("tag", "a date"),
		"unterminated quote '":                           diag.Unterminated("quote %c", '\''),
		"bundle has format 3, but this ccm supports 2":   diag.OtherFormat("bundle", 3, 2),
		"response belongs to another key":                diag.OfAnother("response", "key"),
		"belongs to another fleet":                       diag.OfAnother("", "fleet"),
		"evaluation timed out after 10s":                 diag.TimedOut("evaluation", 10*time.Second),
		"timed out after 10s":                            diag.TimedOut("", "10s"),
		"no response within 10s":                         diag.NoResponse(10 * time.Second),
		"the text exceeds the limit of 16 MiB":           diag.With("the text", diag.Exceeds("", "16 MiB")),
		"only root can change the owner of a.txt":        diag.OnlyRoot("change the owner of %s", "a.txt"),
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
		diag.Not("x", "trusted: %w", fs.ErrNotExist),
		diag.Cannot("lock", "x", fs.ErrNotExist),
		diag.With("x", fs.ErrNotExist),
	} {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	require.NoError(t, errors.Unwrap(diag.Expected("a file")))
	require.NoError(t, errors.Unwrap(diag.Expected("a file").Got("%s", "nothing")))
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// facts are the variables of the templates in release.yaml.
type facts struct {
	Version              string
	FullCommit           string
	CommitDate           string // RFC 3339, in UTC
	CommitTimestamp      int64
	Os, Arch, Arm        string // of the build
	ConventionalFileName string // of a package
	time                 time.Time
	// anyConventionalFileName is a pattern of the package's names in any version.
	anyConventionalFileName string
}

// readFacts reads the facts of a checkout from the environment and git.
func readFacts(root string) (f facts, err error) {
	if f.Version = os.Getenv("VERSION"); f.Version == "" {
		if f.Version, err = output(root, filepath.Join(".", ".ci", "version")); err != nil {
			return f, err
		}
	}
	if f.FullCommit, err = output(root, "git", "rev-parse", "HEAD"); err != nil {
		return f, err
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		if seconds, err = output(root, "git", "log", "-1", "--format=%ct"); err != nil {
			return f, err
		}
	}
	if f.CommitTimestamp, err = strconv.ParseInt(seconds, 10, 64); err != nil {
		return f, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	f.time = time.Unix(f.CommitTimestamp, 0).UTC()
	f.CommitDate = f.time.Format(time.RFC3339)
	return f, nil
}

// output runs a command in a directory and returns its output without the last line break.
func output(dir string, argv ...string) (string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}

// expand expands a template.
func (f facts) expand(text string) (string, error) {
	t, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", fmt.Errorf("%q: %w", text, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, f); err != nil {
		return "", fmt.Errorf("%q: %w", text, err)
	}
	return b.String(), nil
}

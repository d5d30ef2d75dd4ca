package template

import (
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// Environ returns the environment as expressions see it: the entries of
// os.Environ, and over them those of a .env file.
func Environ(entries []string, dotenv map[string]string) map[string]string {
	env := make(map[string]string, len(entries)+len(dotenv))
	for _, e := range entries {
		if key, val, ok := strings.Cut(e, "="); ok && key != "" {
			env[key] = val
		}
	}
	for key, val := range dotenv {
		env[key] = val
	}
	return env
}

// Dotenv reads the text of a .env file: lines of KEY=value, perhaps with export
// before them. A value may stand in quotes; in double quotes \n and the like
// are what they are in Go. Empty lines and those that begin with # say nothing.
func Dotenv(file, text string) (map[string]string, error) {
	env := make(map[string]string)
	var errs diag.List
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		pos := diag.Pos{File: file, Line: n, Col: len(line) - len(strings.TrimLeft(line, " \t")) + 1, Len: len(trimmed)}
		key, val, ok := strings.Cut(strings.TrimPrefix(trimmed, "export "), "=")
		key, val = strings.TrimSpace(key), strings.TrimSpace(val)
		if !ok || key == "" || strings.ContainsAny(key, " \t\"'") {
			errs = append(errs, diag.Errorf(pos, "want KEY=value, got %q", trimmed))
			continue
		}
		plain, err := unquote(val)
		if err != nil {
			errs = append(errs, diag.Errorf(pos, "%s: %w", key, err))
			continue
		}
		env[key] = plain
	}
	return env, errs.Err()
}

func unquote(val string) (string, error) {
	if val == "" {
		return "", nil
	}
	switch q := val[0]; q {
	case '\'', '"':
		end := strings.LastIndexByte(val, q)
		rest := strings.TrimSpace(val[end+1:])
		if end == 0 || rest != "" && !strings.HasPrefix(rest, "#") {
			return "", diag.Errorf(diag.Pos{}, "want a value in quotes, got %s", val).Err
		}
		if q == '\'' {
			return val[1:end], nil
		}
		if s, err := strconv.Unquote(val[:end+1]); err == nil {
			return s, nil
		}
		return val[1:end], nil
	}
	val, _, _ = strings.Cut(val, " #")
	return strings.TrimSpace(val), nil
}

package resources

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// readOnlyCommands are commands that change no file, whatever their arguments. Only a shell could
// redirect their output.
var readOnlyCommands = map[string]bool{
	":": true, "[": true, "basename": true, "cat": true, "cmp": true, "date": true, "df": true, "diff": true, "dirname": true,
	"du": true, "echo": true, "false": true, "getent": true, "grep": true, "groups": true, "head": true, "id": true, "ls": true,
	"printf": true, "pwd": true, "readlink": true, "realpath": true, "sha256sum": true, "sleep": true, "stat": true, "tail": true,
	"test": true, "true": true, "uname": true, "uptime": true, "wc": true, "who": true, "whoami": true,
}

// operandCommands are commands that change only the files that are their operands, and files below
// these.
var operandCommands = map[string]bool{
	"chgrp": true, "chmod": true, "chown": true, "cp": true, "install": true, "ln": true, "mkdir": true, "mkfifo": true, "mv": true,
	"rm": true, "rmdir": true, "tee": true, "touch": true, "truncate": true, "unlink": true,
}

// effects returns the known effects: the creates path exists afterwards, and well-known commands
// change known files. Closed says that these are all.
func (e Exec) effects() (list []overlay.PathEffect, closed bool) {
	operands, makes, closed := e.operands()
	for _, x := range operands {
		if x.Unsure = !makes; makes {
			x.Kind = safepath.Directory
		}
		list = append(list, x)
	}
	if e.Creates != "" {
		list = append(list, overlay.PathEffect{Path: e.Creates, Vague: true})
	}
	if e.Removes != "" {
		list = append(list, overlay.PathEffect{Path: e.Removes, Unsure: true})
	}
	return list, closed
}

// operands returns the files that a well-known command changes, and whether it makes directories
// of them.
func (e Exec) operands() (files []overlay.PathEffect, makes, known bool) {
	line := e.CommandLine()
	if strings.ContainsAny(line, "|&;<>()$`*?[]{}#~!\n") && !strings.HasPrefix(line, "[ ") {
		return nil, false, false // a shell may interpret it
	}
	words, err := shellquote.Split(line)
	if err != nil || len(words) == 0 || strings.ContainsAny(words[0], "=") {
		return nil, false, false
	}
	name := path.Base(words[0])
	switch {
	case strings.Contains(words[0], "/") && !strings.HasPrefix(words[0], "/bin/") && !strings.HasPrefix(words[0], "/usr/bin/"):
		return nil, false, false
	case readOnlyCommands[name]:
		return nil, false, true
	case !operandCommands[name]:
		return nil, false, false
	}
	makes = name == "mkdir"
	for _, word := range words[1:] {
		switch {
		case filepath.IsAbs(word):
			files = append(files, overlay.PathEffect{Path: path.Clean(word), OfSystem: true})
		case strings.HasPrefix(word, "-"):
			makes = makes && word == "-p"
			if _, dir, ok := strings.Cut(word, "="); ok && filepath.IsAbs(dir) {
				files = append(files, overlay.PathEffect{Path: path.Clean(dir), OfSystem: true})
			}
		default:
			files = append(files, overlay.PathEffect{Path: filepath.Join("/", e.Cwd, word)})
		}
	}
	return files, makes, true
}

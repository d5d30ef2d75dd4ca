package facts

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/host"
)

// gatherMounts reads the mounts of this process (proc_pid_mounts(5)). For a root, it returns the
// mounts below the root, with their paths there.
func gatherMounts(_ context.Context, v *host.View) (any, error) {
	run := running(v)
	root := run.Root()
	text, err := readText(run, "/proc/self/mounts")
	if text == "" || err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		point, below := pathBelow(root, unescapeMount(fields[1]))
		if !below {
			continue
		}
		options := []any{}
		for option := range strings.SplitSeq(fields[3], ",") {
			options = append(options, unescapeMount(option))
		}
		// Of two mounts at one place the later covers the earlier.
		branch[point] = map[string]any{"device": unescapeMount(fields[0]), "type": unescapeMount(fields[2]), "options": options}
	}
	return branch, nil
}

// pathBelow returns the path of the file name for processes whose / is root.
func pathBelow(root, name string) (path string, below bool) {
	if root == "/" {
		return name, true
	}
	if name == root {
		return "/", true
	}
	path, below = strings.CutPrefix(name, root+"/")
	return "/" + path, below
}

var mountEscape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\[0-3][0-7]{2}`) })

// unescapeMount returns a field of the file without its escapes: the kernel
// writes spaces, line feeds and backslashes in octal.
func unescapeMount(field string) string {
	if !strings.Contains(field, `\`) {
		return field
	}
	return mountEscape().ReplaceAllStringFunc(field, func(code string) string {
		char, _ := strconv.ParseUint(code[1:], 8, 8) // the expression lets nothing else through
		return string([]byte{byte(char)})
	})
}

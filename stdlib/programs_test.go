package stdlib_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/stdlib"
)

// unforetold are the commands of types that a plan need not know, with the reason.
var unforetold = map[string]map[string]string{
	"cron":             {"getent": onlyReads},
	"group":            {"getent": onlyReads, "addgroup": ofBusybox, "delgroup": ofBusybox},
	"language_package": {"npm": "named by manager", "gem": "named by manager", "id": onlyReads},
	"locale":           {"locale": onlyReads},
	"mount":            {"readlink": onlyReads, "test": onlyReads, "findfs": onlyReads, "systemctl": "is called only where systemd runs"},
	"swap":             {"chattr": "is called only if it is there", "blkid": onlyReads, "readlink": onlyReads, "findfs": onlyReads, "systemctl": "is called only where systemd runs"},
	"timer":            {"getent": onlyReads, "systemd-analyze": onlyReads, "journalctl": onlyReads, "sleep": "is called only where systemd runs"},
	"unit":             {"journalctl": onlyReads, "sleep": "is called only where systemd runs"},
	"user":             {"getent": onlyReads, "adduser": ofBusybox, "deluser": ofBusybox, "addgroup": ofBusybox, "restorecon": "is called only if it is there"},
	"wait_for":         {"sleep": "is called only while it waits"},
	"yum_repo":         {"dnf": "named by the index of the repository, in rpm_repo"},
	"zypper_repo":      {"zypper": "named by the index of the repository, in rpm_repo"},
}

const (
	onlyReads = "only reads, and fails in the plan"
	ofBusybox = "is named by std.busybox, where that of shadow is missing"
)

// TestProgramsOfTypes: the function programs of a type names each command that its actions call, so that a plan fails
// where one is missing. A new command is found here because every type has to list its commands: see its suite.
func TestProgramsOfTypes(t *testing.T) {
	files, err := fs.Glob(stdlib.Library, "std/*.lua")
	require.NoError(t, err)
	source := func(name string) string {
		text, err := fs.ReadFile(stdlib.Library, "std/"+name+".lua")
		require.NoError(t, err)
		return string(text)
	}
	commands := regexp.MustCompile(`(?m)\bcommands = \{(.*?)\}`)
	words := regexp.MustCompile(`"([^"]+)"`)
	body := regexp.MustCompile(`(?ms)^  programs = (.*?)\n(?:  end,|  [a-z]+ =|\n)`)
	delegate := regexp.MustCompile(`\b([a-z]+)"?\)?\.programs\b`)
	found := 0
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".lua")
		list := commands.FindStringSubmatch(source(name))
		if list == nil {
			continue
		}
		named := ""
		if m := body.FindStringSubmatch(source(name)); m != nil {
			named = m[1]
		}
		if m := delegate.FindStringSubmatch(named); m != nil {
			named += regexp.MustCompile(`(?m)^function ` + m[1] + `\.programs\b(?:.* end$|(?:.*\n)*?end$)`).FindString(source(m[1]))
		}
		for _, w := range words.FindAllStringSubmatch(list[1], -1) {
			found++
			why, known := unforetold[name][w[1]]
			is := strings.Contains(named, `"`+w[1]+`"`)
			assert.True(t, is || known, "%s calls %s, which its programs does not name", name, w[1])
			assert.False(t, is && known, "%s names %s in programs, and it is in unforetold: %s", name, w[1], why)
		}
	}
	require.Greater(t, found, 50)
}

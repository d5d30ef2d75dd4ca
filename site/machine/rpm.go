package machine

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/host"
)

// rpmFiles is the question for all files of all packages; configuration files that are not installed (%ghost) have the
// flag 64.
const rpmFiles = `[%{=NAME}\t%{=INSTALLTIME}\t%{FILEFLAGS}\t%{FILEDIGESTS}\t%{FILENAMES}\n]`

// rpm asks rpm for its database.
func (r *reader) rpm(db *database) bool {
	there := slices.ContainsFunc([]string{"/var/lib/rpm", "/usr/lib/sysimage/rpm"}, func(dir string) bool {
		is, err := r.v.IsDirectory(dir)
		return err == nil && is
	})
	if !there {
		return false
	}
	known := func(name, time string) *installed {
		if db.packages[name] == nil {
			db.packages[name] = &installed{since: unixTime(time)}
		}
		return db.packages[name]
	}
	line := func(line string) {
		switch f := strings.SplitN(line, "\t", 5); len(f) {
		case 3:
			known(f[0], f[1]).version = f[2]
		case 5:
			known(f[0], f[1])
			if flags, _ := strconv.Atoi(f[2]); flags&64 == 0 {
				db.own(f[0], f[4], strings.Trim(f[3], "0 "))
			} else {
				db.own(f[0], f[4], "")
			}
		}
	}
	if !r.ask(line, "rpm", "-qa", "--queryformat", `%{NAME}\t%{INSTALLTIME}\t%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\n`) || len(db.packages) == 0 {
		return false
	}
	r.ask(line, "rpm", "-qa", "--queryformat", rpmFiles)
	delete(db.packages, "gpg-pubkey")
	if is, err := r.v.IsDirectory("/var/lib/zypp"); err == nil && is {
		db.manager = "zypper"
		auto := map[string]bool{}
		for _, name := range settings(r.text("/var/lib/zypp/AutoInstalled")) {
			auto[name] = true
		}
		for name, p := range db.packages {
			p.asked = !auto[name]
		}
	} else {
		db.manager = "dnf"
		asked := func(name string) {
			if p := db.packages[strings.TrimSpace(name)]; p != nil {
				p.asked = true
			}
		}
		if !r.ask(asked, "dnf", "-q", "-C", "--disablerepo=*", "repoquery", "--userinstalled", "--queryformat", `%{name}\n`) {
			r.leave("packages", "dnf did not list the packages installed by request")
		}
	}
	db.scripts = func() string {
		var all strings.Builder
		r.ask(func(line string) { all.WriteString(line + "\n") }, "rpm", "-qa", "--queryformat", `%{PREIN}\n%{POSTIN}\n`)
		return all.String()
	}
	return true
}

// ask runs a command that only looks, and calls line for each line of its output.
func (r *reader) ask(line func(string), argv ...string) bool {
	ctx, cancel := context.WithTimeout(r.ctx, time.Minute)
	defer cancel()
	res, err := r.v.Query(ctx, host.Cmd{Argv: argv, OnLine: line})
	return err == nil && res.Code == 0
}

func unixTime(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

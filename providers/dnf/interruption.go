package dnf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/providers/pkgtool/rpm"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// lockFile has the process ID of the dnf that changes the rpm database. A killed dnf leaves it
// behind. The next dnf that changes something takes it over, and systemd-tmpfiles removes it at
// boot.
const lockFile = "/var/lib/dnf/rpmdb_lock.pid"

// interrupted returns the packages of the transaction in which dnf was killed, by NEVRA
// (name-[epoch:]version-release.arch), each with its action in the history. There are none if
// another dnf is running, or has run since.
func interrupted(ctx context.Context, v *host.View) (actions map[string]string, atWork bool, err error) {
	// No resource makes the lock file, so the look must not make a plan unknown.
	alone := v.Recording(nil)
	text, err := alone.ReadUpTo(lockFile, 64)
	pid := strings.TrimSpace(string(text))
	if errors.Is(err, fs.ErrNotExist) || err == nil && (pid == "" || strings.Trim(pid, "0123456789") != "") {
		return nil, false, nil
	}
	if err == nil {
		atWork, err = alone.Exists("/proc/" + pid + "/stat")
	}
	if err != nil || atWork {
		return nil, atWork, err
	}
	res, err := tool.Query(ctx, v, "dnf", "history", "info", "last")
	if err != nil || res.Code != 0 { // there is no history if dnf was killed before its first change
		return nil, false, err
	}
	return parseHistory(string(res.Stdout)), false, nil
}

// parseHistory reads dnf's data on a transaction. It returns the packages if the transaction did
// not end. After one that ended, failed or not, the state of the database is known.
func parseHistory(out string) map[string]string {
	actions, packages := make(map[string]string), false
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(line, ":")
		words := strings.Fields(line)
		switch n := len(words); {
		case strings.TrimSpace(key) == "End rpmdb" && strings.Trim(value, " *\n") != "":
			return nil
		case !strings.HasPrefix(line, " "):
			packages = strings.TrimSpace(key) == "Packages Altered"
		case packages && n >= 3 && strings.HasPrefix(words[n-1], "@"): // [**] Upgrade NEVRA @repository
			actions[words[n-2]] = words[n-3]
		}
	}
	return actions
}

// records asks rpm for packages, and marks the unfinished ones.
func records(ctx context.Context, v *host.View, names []string) (map[string][]rpm.Record, error) {
	found, err := rpm.Records(ctx, v, tool, names)
	if err != nil {
		return nil, err
	}
	return found, markUnfinished(ctx, v, found)
}

// markUnfinished marks the records of packages at which dnf was killed: those of the interrupted
// transaction, and those of which an upgrade left the old version. Packages that may have several
// versions, such as kernels, are no duplicates for dnf.
func markUnfinished(ctx context.Context, v *host.View, found map[string][]rpm.Record) error {
	actions, atWork, err := interrupted(ctx, v)
	if err != nil || atWork {
		return err
	}
	several := false
	mark := func(is func(r rpm.Record) bool) {
		for _, list := range found {
			for i := range list {
				list[i].Unfinished = list[i].Unfinished || is(list[i])
				several = several || slices.ContainsFunc(list, list[i].IsOtherVersionOf)
			}
		}
	}
	mark(func(r rpm.Record) bool { return actions[r.NEVRA()] != "" })
	if !several {
		return nil
	}
	res, err := tool.Query(ctx, v, "dnf", "-q", "check", "--duplicates")
	if err != nil {
		return err
	}
	duplicates := strings.Fields(string(res.Stdout))
	mark(func(r rpm.Record) bool { return slices.Contains(duplicates, r.NEVRA()) })
	return nil
}

// leftovers returns the packages to reinstall before dnf changes packages: those that the
// interrupted transaction was installing, and the unfinished ones among pkgs.
func leftovers(ctx context.Context, v *host.View, verb string, pkgs []string) (nevras []string, err error) {
	actions, _, err := interrupted(ctx, v)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(pkgs)
	for nevra, action := range actions {
		if action != "Removed" && action != "Obsoleted" {
			names = append(names, rpm.NameOf(nevra))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	found, err := records(ctx, v, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		for _, r := range found[name] {
			older := func(o rpm.Record) bool { return o.Unfinished && r.IsOtherVersionOf(o) && r.Compare(o.EVR) < 0 }
			if r.Unfinished && !slices.ContainsFunc(found[name], older) && !(verb == "remove" && (slices.Contains(pkgs, name) || slices.ContainsFunc(pkgs, r.Is))) {
				nevras = append(nevras, r.NEVRA())
			}
		}
	}
	slices.Sort(nevras)
	return slices.Compact(nevras), nil
}

// change runs dnf on packages. First it reinstalls what a killed dnf left unfinished, so that all
// scripts of these packages run. dnf itself waits for the locks of other processes.
func change(ctx context.Context, h *host.Host, verb string, wants []resources.Package, specs []string) error {
	argv := slices.Concat([]string{"dnf", verb, "-y"}, wants[0].Options, specs)
	left, err := leftovers(ctx, &h.View, verb, pkgtool.NamesOf(wants))
	if err != nil {
		return err
	}
	return tool.Change(ctx, h, func(run func(argv ...string) (host.Result, error)) error {
		var failure error
		if len(left) > 0 {
			argv := append([]string{"dnf", "reinstall", "-y"}, left...)
			h.Log().Warn("dnf was interrupted earlier; unfinished packages are reinstalled first", "command", strings.Join(argv, " "))
			var res host.Result
			if res, failure = run(argv...); failure == nil {
				failure = notReinstalled(res, left)
			}
		}
		res, err := run(argv...)
		if err == nil && didNothing(res) && (len(left) == 0 || failure != nil) {
			err = fmt.Errorf("%s: dnf reports nothing to do%s", host.Cmd{Argv: argv}, tool.LastWords(res))
		}
		if err != nil {
			return errors.Join(failure, err)
		}
		if failure != nil {
			h.Log().Warn("some packages that dnf left unfinished cannot be reinstalled", "error", failure.Error())
		}
		return nil
	})
}

// notReinstalled returns an error with the packages that dnf skipped because no repository has
// them any more.
func notReinstalled(res host.Result, nevras []string) error {
	_, summary, _ := strings.Cut(string(res.Stdout), "\nReinstalled:")
	done := strings.Fields(summary)
	left := slices.DeleteFunc(slices.Clone(nevras), func(s string) bool { return slices.Contains(done, s) })
	if len(left) == 0 {
		return nil
	}
	return diag.SubjectCannot("dnf", "reinstall %s, which it left unfinished when it was interrupted%s", strings.Join(left, ", "), tool.LastWords(res))
}

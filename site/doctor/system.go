package doctor

import (
	"cmp"
	"os"
	"os/user"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/site"
)

// system tells the name of the system, and the user of ccm.
func system(x *examination) []Finding {
	name := cmp.Or(x.text("os.pretty_name"), x.text("os.name"), "a system without /etc/os-release")
	found := []Finding{{Check: "system", Result: OK, Text: strings.TrimSpace(name + ", kernel " + x.text("os.kernel") + ", " + x.text("os.arch"))}}
	if os.Geteuid() == 0 {
		return append(found, Finding{Check: "user", Result: OK, Text: "root"})
	}
	name = "an ordinary user"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return append(found, Finding{
		Check: "user", Result: OK, Text: name + ": changes that require root fail",
		Hint: "run sites as root with: ccm run --sudo",
	})
}

// alternatives are what can be used instead of types that have no provider.
var alternatives = map[*resource.Type]string{
	resources.PackageType.Type: "install software without a package manager with archive and file",
	resources.ServiceType.Type: "use exec instead, as in containers without a service manager",
}

// types tells the providers of packages and services on this machine, and the other types that
// have no provider.
func types(x *examination) []Finding {
	found := []Finding{{Check: "init", Result: OK, Text: cmp.Or(x.text("init"), "unknown")}}
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	if err != nil {
		return unreadable("types", err)
	}
	for _, t := range reg.Types() {
		provider, err := reg.Usual(t, x.facts)
		_, disabled := alternatives[t]
		switch {
		case err != nil:
			found = append(found, Finding{Check: t.Name, Result: Warning, Text: "each " + t.Name + " fails: " + err.Error(), Hint: alternatives[t]})
		case disabled:
			found = append(found, Finding{Check: t.Name, Result: OK, Text: "by " + provider})
		}
	}
	return found
}

// selinuxCommands are the commands of std.selinux_boolean and std.selinux_context.
var selinuxCommands = []string{"setsebool", "semanage", "restorecon"}

// selinux tells the mode of SELinux, and whether its types have their commands.
func selinux(x *examination) []Finding {
	mode := x.text("selinux.mode")
	if mode == "" || mode == "disabled" {
		return []Finding{{Check: "selinux", Result: OK, Text: "off"}}
	}
	var missing []string
	for _, name := range selinuxCommands {
		if _, err := command.LookPath(name, ""); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return []Finding{{Check: "selinux", Result: OK, Text: mode}}
	}
	return []Finding{{
		Check: "selinux", Result: Warning,
		Text: mode + "; selinux_boolean and selinux_context fail: command not found: " + strings.Join(missing, ", "),
		Hint: "install policycoreutils and policycoreutils-python-utils",
	}}
}

package facts

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

func gatherHostname(_ context.Context, v *host.View) (any, error) {
	name, err := NodeName(v)
	short, _, _ := strings.Cut(name, ".")
	return orAbsent(short), err
}

func gatherFQDN(_ context.Context, v *host.View) (any, error) {
	name, err := fqdn(v)
	return orAbsent(name), err
}

func gatherDomain(_ context.Context, v *host.View) (any, error) {
	name, err := fqdn(v)
	_, domain, _ := strings.Cut(name, ".")
	return orAbsent(domain), err
}

// orAbsent returns text as a branch.
func orAbsent(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// NodeName returns the name of the machine, with its domain if it is set so.
// The running kernel knows it; for a root that is not running it is what the
// machine will be called.
func NodeName(v *host.View) (string, error) {
	in, run := installed(v), running(v)
	if in.Root() != run.Root() {
		if name, err := etcHostname(in); name != "" || err != nil {
			return name, err
		}
	}
	if name, err := readText(run, "/proc/sys/kernel/hostname"); name != "" || err != nil {
		return name, err
	}
	if name, err := etcHostname(in); name != "" || err != nil {
		return name, err
	}
	return os.Hostname()
}

// etcHostname returns the name in /etc/hostname (hostname(5)).
func etcHostname(v *host.View) (string, error) {
	text, err := readText(v, "/etc/hostname")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line, err
		}
	}
	return "", err
}

// fqdn returns the host name with its domain: as it is set, as /etc/hosts has it, or with the domain of
// /etc/resolv.conf. It does not use DNS, which could be slow, and could change the result of a run.
func fqdn(v *host.View) (string, error) {
	name, err := NodeName(v)
	if err != nil || name == "" || strings.Contains(name, ".") {
		return strings.TrimSuffix(name, "."), err
	}
	hosts, err := readText(installed(v), "/etc/hosts")
	if err != nil {
		return "", err
	}
	if full := canonicalName(hosts, name); full != "" {
		return full, nil
	}
	conf, err := readText(installed(v), "/etc/resolv.conf")
	if err != nil {
		return "", err
	}
	if domain := resolverDomain(conf); domain != "" {
		return name + "." + domain, nil
	}
	return name, nil
}

// canonicalName returns the full name that the text of a hosts(5) file has for
// a short one, or "".
func canonicalName(hosts, short string) string {
	for line := range strings.Lines(hosts) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 2 || !slices.ContainsFunc(fields[1:], func(name string) bool { return strings.EqualFold(name, short) }) {
			continue
		}
		for _, name := range fields[1:] {
			if rest, ok := strings.CutPrefix(strings.ToLower(name), strings.ToLower(short)+"."); ok && rest != "" && rest != "localdomain" {
				return strings.TrimSuffix(name, ".")
			}
		}
	}
	return ""
}

// resolverDomain returns the domain in the text of resolv.conf(5): the first of
// the last search or domain line.
func resolverDomain(conf string) string {
	domain := ""
	for line := range strings.Lines(conf) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && (fields[0] == "domain" || fields[0] == "search") {
			domain = strings.Trim(fields[1], ".")
		}
	}
	return domain
}

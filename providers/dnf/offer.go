package dnf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// offerFormat is what dnf prints of a package that it could install. Dnf 4 ends
// a package with a line break of its own, dnf 5 does not.
const offerFormat = `%{name} %{epoch} %{version} %{release} %{arch}\n`

// An offer is a version of a package in a repository.
type offer struct {
	evr
	arch string
}

// offers asks dnf for all versions of the packages at once, by their names and
// by their names with their architectures. It reads the repositories as an
// installation would, so the two agree: it refreshes what has expired.
func offers(ctx context.Context, v *host.View, names []string) (map[string][]offer, error) {
	found := make(map[string][]offer, len(names))
	for some := range slices.Chunk(names, atOnce) {
		res, err := tool.Query(ctx, v, append([]string{"dnf", "-q", "repoquery", "--queryformat", offerFormat}, some...)...)
		if err != nil {
			return nil, err
		}
		if res.Code != 0 {
			return nil, fmt.Errorf("dnf repoquery: exit status %d%s", res.Code, res.LastWords())
		}
		if err := parseOffers(string(res.Stdout), found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func parseOffers(out string, found map[string][]offer) error {
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 5 {
			return fmt.Errorf("dnf repoquery: want a line about a package, got %q", line)
		}
		o := offer{evr{words[1], words[2], words[3]}, words[4]}
		for _, key := range []string{words[0], words[0] + "." + o.arch} {
			found[key] = append(found[key], o)
		}
	}
	return nil
}

// newest returns the newest version among the offers that could take the place
// of a package of that architecture, and satisfy ok.
func newest(list []offer, arch string, ok func(offer) bool) (evr, bool) {
	list = slices.DeleteFunc(slices.Clone(list), func(o offer) bool {
		return o.arch != arch && o.arch != noarch && arch != noarch || !ok(o)
	})
	if len(list) == 0 {
		return evr{}, false
	}
	return slices.MaxFunc(list, func(a, b offer) int { return a.compare(b.evr) }).evr, true
}

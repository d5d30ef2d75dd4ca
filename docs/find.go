package docs

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// formerNames has the pages that took in others, by the names of those.
var formerNames = map[string]string{
	"api": "ensure", "coming-from-tinycm": "coming-from-choria", "editor": "testing-sites", "encrypted": "secrets",
	"parts": "order", "registration": "health-checks", "sharing": "modules",
	"walks": "architecture",
}

// Find returns the name of the page about a topic: the name of a page, the last part of one, or
// the beginning of either, or the former name of a page. If several fit, or none, the error names what is near.
func Find(topic string) (string, error) {
	all := Names()
	wanted := strings.TrimSuffix(strings.ToLower(topic), suffix)
	if page := formerNames[wanted]; page != "" {
		return page, nil
	}
	for _, fits := range []func(name string) bool{
		func(name string) bool { return name == wanted },
		func(name string) bool { return path.Base(name) == wanted || strings.HasSuffix(name, "/"+wanted) },
		func(name string) bool { return strings.HasPrefix(name, wanted) },
		func(name string) bool { return strings.HasPrefix(path.Base(name), wanted) },
	} {
		var found []string
		for _, name := range all {
			if wanted != "" && fits(name) {
				found = append(found, name)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return "", diag.Errorf(diag.Pos{}, "several pages are about %q", topic).WithHint("%s", listed(found))
		}
	}
	known := slices.Clone(all)
	for _, name := range all {
		if base := path.Base(name); base != name {
			known = append(known, base)
		}
	}
	err := diag.Errorf(diag.Pos{}, "there is no page about %q", topic)
	if err.Hint = diag.DidYouMean(wanted, known); err.Hint == "" {
		err.Hint = "list pages with: ccm docs; search them with: ccm docs --search " + wanted
	}
	return "", err
}

// IsPage reports whether topic is the name of one page, or the last part of it.
func IsPage(topic string) bool {
	wanted := strings.TrimSuffix(strings.ToLower(topic), suffix)
	found := 0
	for _, name := range Names() {
		if name == wanted {
			return true
		}
		if strings.HasSuffix(name, "/"+wanted) {
			found++
		}
	}
	return found == 1 || formerNames[wanted] != ""
}

// Topic returns the shortest name by which Find finds a page.
func Topic(name string) string {
	short := path.Base(name)
	if found, err := Find(short); err == nil && found == name {
		return short
	}
	return name
}

// listed names pages, at most as many as fit on a line.
func listed(names []string) string {
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

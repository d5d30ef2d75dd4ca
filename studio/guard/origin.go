package guard

import (
	"net/url"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// ParseOrigin returns the origin of a page behind a proxy, as browsers send it: the name in small
// letters, and no port that goes without saying. It refuses an address of which that is only a part,
// because no request would fit.
func ParseOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	var usual string
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "":
		return "", diag.Expected("https://NAME or https://NAME:PORT")
	case u.Scheme == "https":
		usual = ":443"
	case u.Scheme == "http":
		usual = ":80"
	default:
		return "", diag.Expected("https://NAME or https://NAME:PORT")
	}
	if u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", diag.Expected("https://NAME or https://NAME:PORT without a path")
	}
	return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Host), usual), nil
}

package std

import (
	"path"
	"path/filepath"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

func pathLibrary() *Library {
	return &Library{
		Name: "path",
		Doc:  "Works on file names, without reading files. The separator is a slash.",
		Funcs: []Func{{
			Signature: `join(...: string): string`,
			Doc:       "Joins names with slashes and cleans the result. Empty names are ignored; only a first name can make the result absolute.",
			Example:   `path.join("/etc", "nginx/", "../motd")`, Result: `"/etc/motd"`,
			Fn: func(c *call) int {
				parts := make([]string, c.L.GetTop())
				for i := range parts {
					parts[i] = c.str(i + 1)
				}
				return c.giveStr(path.Join(parts...))
			},
		}, {
			Signature: `clean(name: string): string`,
			Doc:       "Returns the shortest name of the same file: without . and .. and without double slashes.",
			Example:   `path.clean("/srv//www/./a/..")`, Result: `"/srv/www"`,
			Fn: func(c *call) int { return c.giveStr(path.Clean(c.str(1))) },
		}, {
			Signature: `dir(name: string): string`,
			Doc:       "Returns all but the last element.",
			Example:   `path.dir("/etc/nginx/nginx.conf")`, Result: `"/etc/nginx"`,
			Fn: func(c *call) int { return c.giveStr(path.Dir(c.str(1))) },
		}, {
			Signature: `base(name: string): string`,
			Doc:       "Returns the last element.",
			Example:   `path.base("/etc/nginx/nginx.conf")`, Result: `"nginx.conf"`,
			Fn: func(c *call) int { return c.giveStr(path.Base(c.str(1))) },
		}, {
			Signature: `ext(name: string): string`,
			Doc:       "Returns the suffix of the last element from its last dot, or an empty string. A leading dot does not count.",
			Example:   `path.ext("/srv/backup.tar.gz")`, Result: `".gz"`,
			Fn: func(c *call) int { return c.giveStr(extension(c.str(1))) },
		}, {
			Signature: `stem(name: string): string`,
			Doc:       "Returns the last element without its ext.",
			Example:   `path.stem("/etc/nginx/nginx.conf")`, Result: `"nginx"`,
			Fn: func(c *call) int {
				return c.giveStr(strings.TrimSuffix(path.Base(c.str(1)), extension(c.str(1))))
			},
		}, {
			Signature: `split(name: string): string[]`,
			Doc:       "Returns the elements of a name. The first one of an absolute name is a slash.",
			Example:   `path.split("/etc/nginx")`, Result: `{ "/", "etc", "nginx" }`,
			Fn: func(c *call) int {
				name := c.str(1)
				var parts []string
				if path.IsAbs(name) {
					parts = append(parts, "/")
				}
				for part := range strings.SplitSeq(name, "/") {
					if part != "" {
						parts = append(parts, part)
					}
				}
				return c.giveStrings(parts)
			},
		}, {
			Signature: `is_absolute(name: string): boolean`,
			Doc:       "Reports whether a name begins at the root.",
			Example:   `path.is_absolute("files/motd")`, Result: `false`,
			Fn: func(c *call) int { return c.give(lua.LBool(path.IsAbs(c.str(1)))) },
		}, {
			Signature: `relative(base: string, name: string): string`,
			Doc:       "Returns the relative path from base to name. One absolute and one relative argument, or a base that begins with .., is an error.",
			Example:   `path.relative("/etc/nginx", "/etc/ssl/cert.pem")`, Result: `"../ssl/cert.pem"`,
			Fn: func(c *call) int {
				rel, err := filepath.Rel(c.str(1), c.str(2))
				if err != nil {
					c.fail("no relative path from %q to %q", c.str(1), c.str(2))
				}
				return c.giveStr(rel)
			},
		}, {
			Signature: `within(dir: string, name: string): boolean`,
			Doc:       "Reports whether name is dir or below it. Compares names only.",
			Example:   `path.within("/etc", "/etc/../root/x")`, Result: `false`,
			Fn: func(c *call) int {
				rel, err := filepath.Rel(c.str(1), c.str(2))
				return c.give(lua.LBool(err == nil && rel != ".." && !strings.HasPrefix(rel, "../")))
			},
		}, {
			Signature: `match(pattern: string, name: string): boolean`,
			Doc:       "Reports whether all of name matches a pattern of *, ? and [a-z], none of which matches a slash. An unclosed pattern is an error.",
			Example:   `path.match("*.conf", "nginx.conf")`, Result: `true`,
			Fn: func(c *call) int {
				ok, err := path.Match(c.str(1), c.str(2))
				if err != nil {
					c.fail("%w", diag.Expected(`a pattern such as "*.conf"`).Got("%q", c.str(1)))
				}
				return c.give(lua.LBool(ok))
			},
		}},
	}
}

// extension returns the extension of a name, "" for a name whose only dot is at the beginning.
func extension(name string) string {
	base := path.Base(name)
	i := strings.LastIndexByte(base, '.')
	if i <= 0 || base == ".." {
		return ""
	}
	return base[i:]
}

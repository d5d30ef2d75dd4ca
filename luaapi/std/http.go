package std

import (
	"net/url"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
)

func httpLibrary() *Library {
	return &Library{
		Name: "http",
		Doc:  "Fetches data over HTTP. Read-only: declare a file resource to download a file.",
		Funcs: []Func{{
			Signature: `get(url: string, options?: { timeout?: string, limit?: integer, headers?: table<string, string>, checksum?: string }): string`,
			Doc: "Returns the body at an http or https URL. The default timeout is 30s, the default limit 8 MiB, at most 64 MiB. " +
				"Redirects are followed. A status other than 200, a body above the limit, a timeout and a SHA-256 other than the " +
				"checksum are errors. The response is an input of the run, and also of a plan.",
			Example: `http.get("http://example.test/motd", { timeout = "5s" })`, Result: `"Welcome\n"`,
			Fn: httpGet,
		}},
	}
}

// Limits on answers.
const (
	defaultAnswer  = 8 << 20
	defaultTimeout = 30 * time.Second
)

func httpGet(c *call) int {
	u, err := url.Parse(c.str(1))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		c.fail("%w", diag.Expected("an http or https URL").Got("%q", redactURL(u, c.str(1))))
	}
	timeout := timeoutOption(c, 2, defaultTimeout)
	// The timeout covers the whole answer.
	d := fetch.Request{URL: u, Stall: timeout + fetch.DefaultStall, Checksum: c.optionStr(2, "checksum", "")}
	if headers, ok := c.option(2, "headers").(*lua.LTable); ok {
		d.Header = make(map[string]string)
		headers = c.in.Tables.Listing(c.L, headers)
		for k, v := headers.Next(lua.LNil); k != lua.LNil; k, v = headers.Next(k) {
			if k.Type() != lua.LTString || v.Type() != lua.LTString {
				c.fail("%w", diag.Expected("strings in headers").Got("%s = %s", keyText(k), c.describe(v)))
			}
			d.Header[lua.LVAsString(k)] = lua.LVAsString(v)
		}
	}
	limit := int64(defaultAnswer)
	if n, ok := c.option(2, "limit").(lua.LNumber); ok {
		limit = min(max(int64(n), 0), maxString)
	}
	ctx, cancel := withTimeout(c, timeout)
	defer cancel()
	body, err := c.View.Fetch(ctx, d, limit)
	c.must(err)
	recordText(c, "http", fetch.RedactURL(u), string(body))
	return c.giveStr(string(body))
}

// redactURL returns the text of a wrong URL for a message, unless it may have a password.
func redactURL(u *url.URL, text string) string {
	if u == nil || u.User != nil {
		return "something else"
	}
	return text
}

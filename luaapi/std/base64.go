package std

import (
	"encoding/base64"
	"strings"
)

func base64Library() *Library {
	return &Library{
		Name: "base64",
		Doc:  "Encodes and decodes base64.",
		Funcs: []Func{{
			Signature: `encode(text: string, options?: { url?: boolean, padding?: boolean }): string`,
			Doc:       "Encodes text as base64. url = true uses the alphabet for URLs and file names, padding = false omits the = at the end.",
			Example:   `base64.encode("ccm!?>")`, Result: `"Y2NtIT8+"`,
			Fn: func(c *call) int {
				c.checkRoom(base64.StdEncoding.EncodedLen(len(c.str(1))))
				enc := base64.StdEncoding
				if truthy(c, "url") {
					enc = base64.URLEncoding
				}
				if c.option(2, "padding").String() == "false" {
					enc = enc.WithPadding(base64.NoPadding)
				}
				return c.giveStr(enc.EncodeToString([]byte(c.str(1))))
			},
		}, {
			Signature: `decode(text: string): string`,
			Doc:       "Decodes base64 in either alphabet, padded or not, with or without line breaks. Anything else is an error.",
			Example:   `base64.decode("Y2NtIT8-")`, Result: `"ccm!?>"`,
			Fn: func(c *call) int {
				text := strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "").Replace(c.str(1))
				out, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
				if err != nil {
					c.fail("not valid base64")
				}
				return c.giveStr(string(out))
			},
		}},
	}
}

// truthy reports whether the option in argument 2 is true.
func truthy(c *call, name string) bool { return c.option(2, name).String() == "true" }

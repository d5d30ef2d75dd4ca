package std

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/textedit"
)

func secretLibrary() *Library {
	return &Library{
		Name: "secret",
		Doc: "Values that ccm never shows. A secret is an ordinary string: it can be joined, formatted, put into " +
			"tables and templates, and be the value of a property. In reports, diffs, logs, command output, the " +
			"state directory and the history of the prompt it is replaced by (secret 1a2b3c4d). The digits are a " +
			"keyed digest, so that changes are visible. A secret cannot be an argument of a command, which every " +
			"user of the machine can read, nor the name of a resource.",
		Funcs: []Func{{
			Signature: `secret(value: string): string`,
			Doc: "Marks a value as secret and returns it. Values that library functions derive from it are " +
				"secret too. A secret of fewer than 4 bytes is an error, because masking it would mask other " +
				"text; so is a number, which does not keep leading zeros.",
			Example: `#secret("correct horse")`, Result: `13`,
			Fn: func(c *call) int { return giveSecret(c, c.str(1)) },
		}, {
			Signature: `env(name: string): string`,
			Doc:       "Returns the value of an environment variable as a secret. An unset or empty variable is an error.",
			Example:   `#secret.env("DB_PASSWORD")`, Result: `13`,
			Fn: func(c *call) int {
				name := c.str(1)
				value, ok := c.in.LookupEnv(name)
				switch {
				case !ok:
					c.failWith("export it, or set it in the service that runs ccm", "the variable %s is not set", name)
				case value == "":
					c.fail("the variable %s is empty", name)
				}
				return giveSecret(c, value)
			},
		}, {
			Signature: `file(path: string): string`,
			Doc: "Returns the content of a file as a secret, without trailing line breaks. The file is found as " +
				"by fs.read. A missing file is an error, a world-readable file causes a warning.",
			Example: `#secret.file("/etc/app.key")`, Result: `13`,
			Fn: func(c *call) int {
				v, name := pathArg(c, 1)
				raw, err := v.ReadUpTo(name, secret.Longest)
				switch {
				case missing(err):
					c.fail("no file %s", name)
				case err != nil:
					c.fail("%s: %w", name, cause(err))
				}
				c.Record(Input{Kind: "file", Name: name, Text: string(raw), Secret: true})
				if info, err := v.Stat(name); err == nil && info.Mode&0o004 != 0 {
					c.in.Warn(c.L, fmt.Sprintf("secret.file: %s is world-readable (mode %04o)", name, info.Mode))
				}
				return giveSecret(c, strings.TrimRight(string(raw), "\r\n"))
			},
		}, {
			Signature: `cmd(command: string|string[]|{ timeout?: string, cwd?: string, env?: table<string, string>, stdin?: string }): string`,
			Doc: "Runs a read-only command, as capture does, and returns its output as a secret, without " +
				"trailing line breaks. It also runs for a plan. Empty output is an error, and so is an exit code " +
				"other than 0; the error does not show the standard output.",
			Example: `#secret.cmd { "printf", "correct horse" }`, Result: `13`,
			Fn: func(c *call) int {
				cmd := commandArg(c, 1)
				cmd.BelowRoot = true // a secret comes from the machine of the site, as its files do
				res, err := c.View.Query(c.in.Context(), cmd)
				c.must(err)
				return giveSecret(c, secretOutput(c, cmd, res))
			},
		}, {
			Signature: `age(path: string): string`,
			Doc: "Decrypts a file that is encrypted with age and returns its content as a secret, without " +
				"trailing line breaks. The file is found as by fs.read, and decrypted with an identity of the " +
				"user that runs ccm: see ccm secret. A file is decrypted once per run.",
			Example: `#secret.age("db.age")`, Result: `13`,
			Fn: secretAge,
		}, {
			Signature: `sops(path: string, key?: string): string`,
			Doc: "Decrypts a file that is encrypted with SOPS and returns its content as a secret: all of it, or " +
				"the text at a key such as db.password. Calls the sops command with the user's keys. A file is " +
				"decrypted once per key; decode a whole JSON file with json.decode.",
			Example: `#secret.sops("db.enc.json", "db.password")`, Result: `13`,
			Fn: secretSops,
		}, {
			Signature: `values(data: table): table`,
			Doc:       "Returns a read-only view of a table in the script in which encrypted strings, ENC[age,...], are decrypted when they are read. Edit them in place with ccm secret encrypt --key and ccm secret edit.",
			Example:   `secret.values({ user = "app" }).user`, Result: `"app"`,
			Fn: secretValues,
		}},
	}
}

// secretAge is secret.age.
func secretAge(c *call) int {
	v, name := pathArg(c, 1)
	if c.Decrypt == nil {
		c.fail("not available here")
	}
	raw, err := v.ReadUpTo(name, maxString)
	switch {
	case missing(err):
		c.fail("no file %s", name)
	case err != nil:
		c.fail("%s: %w", name, cause(err))
	}
	plain, err := c.Decrypt(name, raw)
	if d, ok := errors.AsType[*diag.Error](err); ok {
		c.failWith(d.Hint, "%w", d.Err)
	}
	c.must(err)
	c.Record(Input{Kind: "file", Name: name, Text: string(plain), Secret: true})
	return giveSecret(c, strings.TrimRight(string(plain), "\r\n"))
}

// sopsTimeout is the time limit of sops, which may ask a service for the key.
const sopsTimeout = time.Minute

// secretSops is secret.sops.
func secretSops(c *call) int {
	_, name := pathArg(c, 1)
	argv := []string{"sops", "--decrypt"}
	if key := c.str(2); key != "" {
		path, err := textedit.ParsePath(key)
		c.must(err)
		extract := ""
		for _, step := range path {
			if n, err := strconv.Atoi(step); err == nil && n >= 0 {
				extract += "[" + step + "]"
			} else {
				extract += "[" + strconv.Quote(step) + "]"
			}
		}
		argv = append(argv, "--extract", extract)
	}
	cmd := host.Cmd{Argv: append(argv, name), Timeout: sopsTimeout, BelowRoot: true}
	if out, known := c.sops[cmd.String()]; known {
		return giveSecret(c, out)
	}
	res, err := c.View.Query(c.in.Context(), cmd)
	if _, missing := errors.AsType[*command.NotFoundError](err); missing {
		c.failWith("install sops: https://getsops.io", "sops is required for %s, but not installed", name)
	}
	c.must(err)
	out := secretOutput(c, cmd, res)
	if c.sops == nil {
		c.instance.sops = make(map[string]string)
	}
	c.sops[cmd.String()] = out
	return giveSecret(c, out)
}

// secretValues is secret.values.
func secretValues(c *call) int {
	file := c.in.Caller(c.L).File()
	return c.give(c.in.Tables.Value("secret.values", c.seal(c.plain(1), file, nil)))
}

// seal returns plain data whose encrypted texts are decrypted at their first use.
func (c *call) seal(val any, file string, path textedit.Path) any {
	switch x := val.(type) {
	case string:
		if c.Open == nil || !data.IsSealed(x) {
			return x
		}
		key := path.String()
		return data.NewSealed(func() (string, error) { return c.Open(x, file, key) })
	case []any:
		for i := range x {
			x[i] = c.seal(x[i], file, append(slices.Clip(path), strconv.Itoa(i)))
		}
	case map[string]any:
		for k := range x {
			x[k] = c.seal(x[k], file, append(slices.Clip(path), k))
		}
	}
	return val
}

// openSecret makes the table secret, which is a function too. The message about a wrong argument
// does not show the argument.
func openSecret(s *instance, L *lua.LState) lua.LValue {
	lib := secretLibrary()
	t := s.in.Tables.Library(lib.Name, s.contents(L, lib))
	fn := s.function("", &lib.Funcs[0])
	t.Metatable.(*lua.LTable).RawSetString("__call", L.NewFunction(func(L *lua.LState) int {
		L.Remove(1) // the table itself
		if v := L.Get(1); v.Type() != lua.LTString {
			hint := ""
			if v.Type() == lua.LTNumber {
				hint = "quote it"
			}
			s.in.Throw(L, hint, "secret: %w", diag.Expected("a string").Got("a %s", v.Type()))
		}
		return fn(L)
	}))
	return t
}

// giveSecret returns a secret.
func giveSecret(c *call, value string) int {
	if err := c.in.Secrets().Add(value); err != nil {
		hint := ""
		if errors.Is(err, secret.ErrShort) {
			hint = "use a longer secret"
		}
		c.failWith(hint, "%w", err)
	}
	return c.give(lua.LString(value))
}

// secretOutput records the output of a command as secret, and returns it without its last newline. The command has to
// have succeeded.
func secretOutput(c *call, cmd host.Cmd, res host.Result) string {
	c.Record(Input{Kind: "command", Name: cmd.String(), Text: string(res.Stdout), Secret: true})
	if res.Code != 0 {
		res.Stdout = nil
		c.must(res.Err(cmd))
	}
	out := strings.TrimRight(string(res.Stdout), "\r\n")
	if out == "" {
		c.fail("%s: empty output", cmd)
	}
	return out
}

-- The contract of locale for /etc/locale.gen and LANG.
require "std.locale"

local supported = "de_DE.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\n"

suite("locale", {
  starts = {
    none = { files = { ["/usr/share/i18n/SUPPORTED"] = supported, ["/etc/locale.gen"] = "# de_DE.UTF-8 UTF-8\n" } },
    there = { files = { ["/usr/share/i18n/SUPPORTED"] = supported, ["/etc/locale.gen"] = "de_DE.UTF-8 UTF-8\n", ["/etc/default/locale"] = "LANG=C\n" } },
    unknown = {},
  },
  wants = {
    locale = { "de_DE.UTF-8" },
    default = { "de_DE.UTF-8", default = true },
    absent = { "de_DE.UTF-8", ensure = "absent" },
  },
  phrases = {
    ["none/locale"] = { "generated the locale" }, ["there/locale"] = {}, ["there/default"] = { "updated the locale" },
    ["none/absent"] = {}, ["there/absent"] = { "removed the locale" }, ["unknown/absent"] = {},
  },
  fails = { ["unknown/locale"] = "install the package locales", ["unknown/default"] = "install the package locales" },
})

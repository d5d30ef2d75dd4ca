-- line: keeps one line in a text file.
--
--   local line = require "std.line"
--   line { "/etc/hosts.allow", line = "sshd: 192.0.2.0/24" }
--   line { "root may not log in", path = "/etc/ssh/sshd_config",
--          line = "PermitRootLogin no", match = [[^#?\s*PermitRootLogin\b]] }

local lines = require "std.lines"

return ccm.type {
  name = "line",
  doc = "Keeps one line in a text file, or keeps it out.",
  properties = {
    name = { name = true, doc = "The path of the file or, if path is given, any name.", example = "/etc/hosts.allow" },
    path = { type = "path", doc = "The file. Left out, it is the name." },
    line = { doc = "The whole line. It is required unless ensure is absent and match is given." },
    match = { doc = "A regular expression (RE2). If the line is not there, the last line that matches is replaced by it. With ensure absent, all lines that match are removed." },
    insert_after = { doc = "A regular expression. A new line is put behind the last line that matches, and at the end if none does." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the line is to be in the file." },
  },
  phrases = { create = "added the line", update = "replaced the line", remove = "removed the line" },

  validate = function(want)
    if not want.line and not (want.ensure == "absent" and want.match) then return "line is required" end
    if want.line and want.line:find("[\r\n]") then return "line", "want one line" end
  end,

  edit = function(want, text)
    local list, eol = lines.split(text)
    if want.ensure == "absent" then
      local rest = tbl.filter(list, function(l)
        return l ~= want.line and not (want.match and re.test(l, want.match))
      end)
      if #rest == #list then return text end
      return lines.join(rest, eol)
    end
    if tbl.contains(list, want.line) then return text end
    local at = want.match and lines.last(list, want.match)
    if at then
      local old = list[at]
      list[at] = want.line
      return lines.join(list, eol), { ensure = "present", line = old }
    end
    at = want.insert_after and lines.last(list, want.insert_after) or #list
    table.insert(list, at + 1, want.line)
    return lines.join(list, eol)
  end,
}

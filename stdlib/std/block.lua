-- block: keeps some lines of a text file between two markers.
--
--   local block = require "std.block"
--   block { "web servers", path = "/etc/hosts", content = "192.0.2.1 web1\n192.0.2.2 web2\n" }
--
-- The file then has
--
--   # BEGIN ccm web servers
--   192.0.2.1 web1
--   192.0.2.2 web2
--   # END ccm web servers

local lines = require "std.lines"

return ccm.type {
  name = "block",
  doc = "Keeps some lines of a text file between two markers that bear its name.",
  properties = {
    name = { name = true, one_line = true, doc = "The name of the block in the file.", example = "web servers" },
    path = { type = "path", required = true, doc = "The file.", example = "/etc/hosts" },
    content = { doc = "The lines. It is required unless ensure is absent." },
    comment = { one_line = true, default = "#", doc = "What begins a comment in the file." },
    insert_after = { type = "regexp", doc = "A regular expression (RE2). A new block is put behind the last line that matches, and at the end if none does." },
    create = lines.create,
    validate = lines.validate,
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the block is to be in the file." },
  },
  phrases = { create = "added the block", update = "updated the block", remove = "removed the block" },

  validate = function(want)
    if want.ensure == "present" and not want.content then return "content is required unless ensure is absent" end
    if want.content and want.content:find("\0", 1, true) then return "content", "want a text without NUL bytes" end
    for _, mark in ipairs { " BEGIN ccm ", " END ccm " } do
      if want.content and tbl.contains((lines.split(want.content)), want.comment .. mark .. want.name) then return "content", "a line of it is a marker of the block" end
    end
  end,

  edit = function(want, text)
    local list, eol = lines.of(text)
    local first = lines.position(text, want.comment .. " BEGIN ccm " .. want.name)
    local last = lines.position(text, want.comment .. " END ccm " .. want.name)
    if (first ~= nil) ~= (last ~= nil) or first and last < first then
      error(("%s: one of the two markers of the block %s is missing, or they are the wrong way round"):format(want.path, want.name), 0)
    end
    if want.ensure == "absent" then
      if not first then return text end
      return lines.join(tbl.concat(tbl.slice(list, 1, first - 1), tbl.slice(list, last + 1)), eol)
    end
    local content = lines.split(want.content)
    local block = tbl.concat({ want.comment .. " BEGIN ccm " .. want.name }, content, { want.comment .. " END ccm " .. want.name })
    if not first then
      local at = want.insert_after and lines.last(list, want.insert_after) or #list
      return lines.join(tbl.concat(tbl.slice(list, 1, at), block, tbl.slice(list, at + 1)), eol)
    end
    local old = tbl.slice(list, first + 1, last - 1)
    if tbl.equal(old, content) then return text end
    local found = { ensure = "present", content = lines.join(old, "\n") }
    return lines.join(tbl.concat(tbl.slice(list, 1, first - 1), block, tbl.slice(list, last + 1)), eol), found
  end,
}

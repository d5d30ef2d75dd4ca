-- block: keeps some lines of a text file between two markers.
--
--   std.block { "web servers", path = "/etc/hosts", content = "192.0.2.1 web1\n192.0.2.2 web2\n" }
--
-- The file then has
--
--   # BEGIN ccm web servers
--   192.0.2.1 web1
--   192.0.2.2 web2
--   # END ccm web servers

local lines = require "std.lines"

-- What ends a comment, by what begins it.
local ends = { ["<!--"] = "-->", ["/*"] = "*/", ["(*"] = "*)", ["{-"] = "-}", ["<%--"] = "--%>", ["{#"] = "#}", ["{{/*"] = "*/}}", ["--[["] = "]]" }

-- What begins and ends a comment in the file.
local function comment(want)
  local first = want.comment or re.test(want.path, [[(?i)\.(xml|x?html?|svg|xsl|plist)$]]) and "<!--" or "#"
  return first, want.comment_end or ends[first] or ""
end

-- A marker of the block, as a whole comment.
local function marker(want, word)
  local first, last = comment(want)
  return ("%s %s ccm %s"):format(first, word, want.name) .. (last == "" and "" or " " .. last)
end

return ccm.type {
  name = "block",
  doc = "Manages a block of lines in a text file between two markers with its name.",
  properties = {
    name = { name = true, one_line = true, doc = "The name of the block in the file.", example = "web servers" },
    path = { type = "path", required = true, doc = "The file.", example = "/etc/hosts" },
    content = { doc = "The lines. Required unless ensure is absent." },
    comment = { one_line = true, doc = "The start of a comment in the file. Default: <!-- in XML and HTML files, # in others." },
    comment_end = { one_line = true, doc = "The end of a comment. Default: --> after <!--, */ after /*, and so on, otherwise the end of the line." },
    insert_after = { type = "regexp", doc = "A regular expression (RE2). A new block is added after the last matching line, or at the end of the file." },
    create = lines.create,
    validate = lines.validate,
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the block should be in the file." },
  },
  phrases = { create = "added the block", update = "updated the block", remove = "removed the block" },

  validate = function(want)
    if want.ensure == "present" and not want.content then return "content is required unless ensure is absent" end
    if want.content and want.content:find("\0", 1, true) then return "content", "expected a string without NUL bytes" end
    local first, last = comment(want)
    if last ~= "" and str.contains(want.name, last) or first == "<!--" and str.contains(want.name, "--") then
      return "name", ("expected a name that can be in a comment %s %s, got %s"):format(first, last, inspect(want.name))
    end
    for _, word in ipairs { "BEGIN", "END" } do
      if want.content and tbl.contains((lines.split(want.content)), marker(want, word)) then return "content", "one line is a marker of the block" end
    end
  end,

  edit = lines.keeping(function(want, text)
    local opening, closing = marker(want, "BEGIN"), marker(want, "END")
    local first, last = lines.offset(text, opening), lines.offset(text, closing)
    if (first ~= nil) ~= (last ~= nil) or first and last < first then
      error(("%s: a marker of the block %s is missing, or the markers are in the wrong order"):format(want.path, want.name), 0)
    end
    if want.ensure == "absent" and not first then return text end
    local content = lines.split(want.content or "")
    if not first then
      local after = want.insert_after and lines.matching(text, want.insert_after)
      return lines.with(text, tbl.concat({ opening }, content, { closing }), after and after[#after])
    end
    local eol = lines.ending(text)
    if want.ensure == "present" and text:sub(first + #opening + 1, last) == eol .. str.join(tbl.concat(content, { "" }), eol) then return text end
    local list, first, last = lines.of(text), lines.position(text, opening), lines.position(text, closing)
    if want.ensure == "absent" then return lines.changed(text, { { from = first, to = last, lines = {} } }) end
    local old = str.join(tbl.concat(tbl.slice(list, first + 1, last - 1), { "" }), "\n")
    return lines.changed(text, { { from = first + 1, to = last - 1, lines = content } }), { ensure = "present", content = old }
  end),
}

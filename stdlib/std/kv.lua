-- kv: keeps one setting in a file of keys and values.
--
--   local kv = require "std.kv"
--   kv.defaults { path = "/etc/ssh/sshd_config", ends_at = "^Match " }
--   kv { "PermitRootLogin", value = "no" }
--   kv { "X11Forwarding", value = "no" }
--   kv { "swap", path = "/etc/sysctl.conf", key = "vm.swappiness", value = "10", separator = " = " }

local lines = require "std.lines"

return ccm.type {
  name = "kv",
  doc = "Keeps one setting in a file that has a key and its value in each line, such as sshd_config.",
  properties = {
    name = { name = true, one_line = true, doc = "The key or, if key is given, any name.", example = "PermitRootLogin" },
    path = { type = "path", required = true, doc = "The file.", example = "/etc/ssh/sshd_config" },
    key = { one_line = true, doc = "The key. Left out, it is the name." },
    value = { one_line = true, doc = "The value. It is required unless ensure is absent.", example = "no" },
    separator = { one_line = true, default = " ", doc = "What stands between a key and its value in a new line. Blanks around it do not matter in a line that is there." },
    comment = { one_line = true, default = "#", doc = "What begins a comment. A new line is put behind a setting that is commented out." },
    ends_at = { type = "regexp", doc = "A regular expression (RE2). What follows the first line that matches is left alone, such as ^Match in sshd_config." },
    create = lines.create,
    validate = lines.validate,
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the file is to have the setting." },
  },
  phrases = { create = "added the setting", update = "changed the setting", remove = "removed the setting" },

  validate = function(want)
    if want.ensure == "present" and not want.value then return "value is required unless ensure is absent" end
    local key = want.key or want.name
    if key:find("%s") then return want.key and "key" or "name", "want a key without blanks, got " .. inspect(key) end
  end,

  edit = function(want, text)
    local key, sign = want.key or want.name, re.escape(str.trim(want.separator))
    local between = sign == "" and [[\s+]] or [[\s*]] .. sign .. [[\s*]]
    local setting = [[^\s*]] .. re.escape(key) .. [[(?:]] .. between .. [[(.*?))?\s*$]]
    local hidden = [[^\s*]] .. re.escape(want.comment) .. [[\s*]] .. re.escape(key) .. [[(]] .. between .. [[|\s*$)]]

    -- Only lines before the one that matches want.ends_at count.
    local stop = want.ends_at and lines.first((lines.of(text)), want.ends_at)
    local found, values, commented = {}, {}, nil
    for _, i in ipairs(lines.having(text, key)) do
      local line = (not stop or i < stop) and lines.of(text)[i]
      local m = line and re.match(line, setting)
      if m then
        found[#found + 1] = i
        values[#values + 1] = m[1] or ""
      elseif line and re.test(line, hidden) then
        commented = i
      end
    end

    if want.ensure == "absent" and #found == 0 then return text end
    if want.ensure == "present" and #found == 1 and values[1] == want.value then return text end
    local new = key .. want.separator .. (want.value or "")
    if #found == 0 and not commented and not stop then return lines.with(text, new) end
    local list, eol = lines.split(text)
    for i = #found, 1, -1 do table.remove(list, found[i]) end
    if want.ensure == "present" then
      table.insert(list, found[1] or (commented or stop and stop - 1 or #list) + 1, new)
    end
    local now = lines.join(list, eol)
    if want.ensure == "present" and #found > 0 then return now, { ensure = "present", value = str.join(values, ", ") } end
    return now
  end,
}

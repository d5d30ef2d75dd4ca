-- The common definition of the types that keep one value in a file of JSON, YAML or TOML.
local lines = require "std.lines"

local settings = {}

-- The message of an error of the library, without its position in this file.
local function reason(fault) return re.replace(tostring(fault), [[^.*?\.(set|remove): ]], "") end

--- Returns the type for a format. spec has its name, doc, an example of a file and of a key, and library, whose
--- functions set and remove edit a text.
function settings.type(spec)
  return {
    name = spec.name,
    doc = spec.doc .. " All else in it stays as it is: comments, order, layout.",
    properties = {
      name = { name = true, doc = "Where the value is or, if key is given, any name.", example = spec.key },
      path = { type = "path", required = true, doc = "The file.", example = spec.path },
      key = { type = "any", doc = "Where the value is: names with dots between them, such as server.ports.0, in which positions in lists count from 0 and that behind the last is a new item; a backslash stands before a dot that is part of a name. Or a list of names. What is missing on the way is made. Left out, it is the name." },
      value = { type = "any", doc = "The value: a text, a number, true or false, a list or a table, which replaces what is there as a whole. 80 and \"80\" are different values. It is required unless ensure is absent." },
      create = lines.create,
      validate = lines.validate,
      ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the file is to have the value. If it is absent, comments above it stay." },
    },
    phrases = { create = "added the setting", update = "changed the setting", remove = "removed the setting" },

    validate = function(want)
      if want.ensure == "present" and want.value == nil then return "value is required unless ensure is absent" end
      local key = want.key or want.name
      if type(key) ~= "string" and not (type(key) == "table" and #key > 0 and tbl.all(key, function(k) return type(k) == "string" and k ~= "" end)) then
        return "key", "want a text such as " .. spec.key .. ", or a list of names, got " .. inspect(key)
      end
      local ok, fault = pcall(spec.library.remove, "", key)
      if not ok then return want.key and "key" or "name", reason(fault) end
    end,

    edit = function(want, text)
      local key = want.key or want.name
      local ok, now, old
      if want.ensure == "absent" then
        ok, now = pcall(spec.library.remove, text, key)
      else
        ok, now, old = pcall(spec.library.set, text, key, want.value)
        if ok and tbl.equal(old, want.value) then return text end -- {} is any empty list or table
      end
      if not ok then error(want.path .. ": " .. reason(now), 0) end
      return now, now ~= text and old ~= nil and { ensure = "present", value = old } or nil
    end,
  }
end

return settings

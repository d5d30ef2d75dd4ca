-- The common definition of the types that keep one value in a file of JSON, YAML or TOML.
local documents, lines = require "std.documents", require "std.lines"

local settings = {}

-- The message of an error of the library, without its position in this file.
local function reason(fault) return re.replace(tostring(fault), [[^.*?\.(set|remove): ]], "") end

-- The names of a key, and one more.
local function below(key, step)
  if type(key) == "string" then return re.replace(key, [[$]], "." .. step) end
  return tbl.concat(key, { tostring(step) })
end

-- The text in which the list at the key has the item, or has it no longer.
local function with_item(library, text, want, key)
  local _, list = library.remove(text, key)
  if list ~= nil and type(list) ~= "table" then error(("%s is not a list"):format(inspect(key)), 0) end
  local whole = list == nil or #list == 0 and library == yaml -- which makes [] a block
  list = list or {}
  local rest = tbl.filter(list, function(item) return not tbl.equal(item, want.value) end)
  if want.ensure == "present" then
    if #rest < #list then
      for i, item in ipairs(list) do text = tbl.equal(item, want.value) and library.set(text, below(key, i - 1), item) or text end
      return text, want.value
    end
    if whole then return (library.set(text, key, { want.value })) end
    local ok, now = pcall(library.set, text, below(key, #list), want.value)
    return ok and now or (library.set(text, key, tbl.concat(list, { want.value })))
  end
  local now, ok = text, true
  for i = #list, 1, -1 do
    if ok and tbl.equal(list[i], want.value) then ok, now = pcall(library.remove, now, below(key, i - 1)) end
  end
  if ok then return now end
  return (library.set(text, key, json.array(rest)))
end

-- Whether a value is an empty table, or has one in it.
local function has_empty(value)
  return type(value) == "table" and (next(value) == nil or tbl.any(tbl.keys(value), function(k) return has_empty(value[k]) end))
end

-- The text with the value, or without it, and what was there.
local function edited(library, text, want, key)
  if want.among then return with_item(library, text, want, key) end
  if want.ensure == "present" then
    local now, old = library.set(text, key, want.value)
    if tbl.equal(old, want.value) and has_empty(want.value) then now = text end -- {} is any empty list or table
    return now, old
  end
  local now = library.remove(text, key)
  if now ~= text and type(key) == "table" and re.test(key[#key], [[^\d+$]]) then
    local around = #key > 1 and select(2, library.remove(text, tbl.slice(key, 1, #key - 1)))
    if not around or tbl.is_list(around) then
      error("the next item would move into its position and be removed by the next run (remove it by value: among = true)", 0)
    end
  end
  return now
end

--- Returns the type for a format. spec has its name, doc, an example of a file and of a key, and library, whose
--- functions set and remove edit a text. If files may have several documents, it has the property document.
function settings.type(spec)
  return {
    name = spec.name,
    doc = spec.doc .. " Everything else is kept: comments, order, layout.",
    properties = {
      name = { name = true, doc = "The path of the value or, if key is given, any name.", example = spec.key },
      path = { type = "path", required = true, doc = "The file.", example = spec.path },
      key = { type = "any", doc = "The path of the value: names separated by dots, such as server.ports.0. List positions count from 0, the position after the last adds an item; write a backslash before a dot in a name. Or a list of names. Missing parents are created. Default: the name." },
      value = { type = "any", scalar = true, doc = "The value: a string, a number, true or false, a list or a table, which replaces the old value as a whole. 80 and \"80\" are different values. Required unless ensure is absent." },
      among = { type = "boolean", default = false, doc = "Whether the value is one item of a list. Other items are kept. A new item is added at the end; with ensure absent, all equal items are removed." },
      document = spec.document,
      create = lines.create,
      validate = lines.validate,
      ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the value should be in the file. With absent, comments above it are kept. Remove list items with among, not by position." },
    },
    phrases = { create = "added the setting", update = "changed the setting", remove = "removed the setting" },

    validate = function(want)
      if (want.ensure == "present" or want.among) and want.value == nil then return "value is required unless ensure is absent" end
      local key = want.key or want.name
      local is_list = type(key) == "table" and #key > 0 and tbl.all(key, function(k) return type(k) == "string" and k ~= "" end)
      if type(key) ~= "string" and not is_list then
        return "key", "expected a string such as " .. spec.key .. ", or a list of names, got " .. inspect(key)
      end
      local ok, fault = pcall(spec.library.remove, "", key)
      if not ok then return want.key and "key" or "name", reason(fault) end
      if want.ensure == "absent" and not want.among and type(key) == "string" and re.test(key, [[(^|[^\\]\.)\d+$]]) then
        return want.key and "key" or "name", "a list position cannot be absent, because the next item moves into it (remove the item by value: among = true; write names of digits in a list: key = { \"ports\", \"80\" })"
      end
      local mistake = spec.document and want.document ~= nil and documents.mistake(want.document)
      if mistake then return "document", mistake end
    end,

    part = { spec.document and "document" or "path", "key" },
    edit = function(want, text)
      local before, document, behind = "", text, ""
      local ok, now, old = true, nil, nil
      if spec.document and want.document ~= nil then
        local count
        ok, before, document, behind, count = pcall(documents.find, text, want.document)
        if not ok then error(want.path .. ": " .. before, 0) end
        if not document and want.ensure == "absent" then return text end
        if not document then error(("%s: none of %d documents matches %s"):format(want.path, count, inspect(want.document)), 0) end
      end
      ok, now, old = pcall(edited, spec.library, document, want, want.key or want.name)
      if not ok then
        local several = spec.document and str.contains(tostring(now), "found a second one")
        error(want.path .. ": " .. reason(now) .. (several and " (select one with document = 1)" or ""), 0)
      end
      if old == nil or now == document then return before .. now .. behind end
      if tbl.equal(old, want.value) then old = inspect(old) .. " without quotes" end -- which YAML 1.1 reads otherwise
      return before .. now .. behind, { ensure = "present", value = old }
    end,
  }
end

return settings

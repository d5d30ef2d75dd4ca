-- Finds the same repository in several of apt's lists of sources, for the type apt_repo.

local sources = {}

-- The entries of a file in the format of one line each: { uri, suite, trusted, signed_by }.
local function of_lines(text)
  local all = {}
  for _, l in ipairs(str.lines(text)) do
    local m = re.match(l, [=[^\s*deb(?:-src)?\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)]=])
    if m then
      local options = m[1] or ""
      all[#all + 1] = { uri = m[2], suite = m[3], trusted = options:match "trusted=(%S+)", signed_by = options:match "signed%-by=(%S+)" }
    end
  end
  return all
end

-- The entries of a file in the format of deb822: one for each URI and suite of each paragraph.
local function of_paragraphs(text)
  local all = {}
  for _, paragraph in ipairs(re.split(text, [[\n\s*\n]])) do
    local fields, last = {}, nil
    for _, l in ipairs(str.lines(paragraph)) do
      local key, value = l:match "^([%w-]+):%s*(.-)%s*$"
      if key then
        last = key:lower()
        fields[last] = value
      elseif last and l:find "^%s" then
        fields[last] = str.trim(fields[last] .. " " .. str.trim(l))
      end
    end
    for _, uri in ipairs(fields.enabled ~= "no" and str.fields(fields.uris or "") or {}) do
      for _, suite in ipairs(str.fields(fields.suites or "")) do
        all[#all + 1] = { uri = uri, suite = suite, trusted = fields.trusted, signed_by = fields["signed-by"] }
      end
    end
  end
  return all
end

local function parsed(file, text) return str.ends(file, ".sources") and of_paragraphs(text) or of_lines(text) end
local function same(a, b) return a.suite == b.suite and str.strip_suffix(a.uri, "/") == str.strip_suffix(b.uri, "/") end

--- Fails if another file has a repository of the text that the own file is to have, with another key or trust: apt
--- then reads no source at all. Of two entries, the second may leave nothing out that the first has.
function sources.check(host, own, text)
  local ours = parsed(own, text)
  for _, file in ipairs(tbl.concat({ "/etc/apt/sources.list" }, host.glob "/etc/apt/sources.list.d/*.list", host.glob "/etc/apt/sources.list.d/*.sources")) do
    for _, e in ipairs(file ~= own and parsed(file, host.read(file) or "") or {}) do
      local us = tbl.find(ours, function(u) return same(u, e) end)
      local first, second = e, us
      if file ~= "/etc/apt/sources.list" and own < file then first, second = us, e end
      for field, name in pairs(us and { signed_by = "Signed-By", trusted = "Trusted" } or {}) do
        if first[field] and first[field] ~= second[field] then
          error(("%s already has the repository %s %s with another value of %s, and apt rejects both (remove it there first)"):format(file, e.uri, e.suite, name), 0)
        end
      end
    end
  end
end

return sources

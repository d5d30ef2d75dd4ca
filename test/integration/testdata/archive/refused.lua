-- Archives that are not what they should be: refused.lua CHECKSUM-OF-ANOTHER
local function extracted(name, properties)
  properties.url = "http://127.0.0.1:8080/" .. (properties.remote or name) .. ".tar.gz"
  properties.remote = nil
  properties.extract_parent = "/srv/" .. name
  properties.owner, properties.group = "root", "root"
  return archive("/srv/" .. name .. ".tar.gz", properties)
end

extracted("other", { remote = "app", checksum = arg[1] })
extracted("none", {})
extracted("climbs", {})
extracted("absolute", {})
extracted("link", {})
extracted("bomb", { max_size = "1MiB" })
extracted("empty", { remote = "app", creates = "/srv/empty/nonesuch" })

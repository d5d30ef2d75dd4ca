-- Redis, or Valkey where the distribution has that instead: its settings, its limit of open files, and
-- what its documentation asks of the kernel. The settings are in site.yaml.
local sysctl, unit = require "std.sysctl", require "std.unit"
local want = data.load("site.yaml")
local container = facts.virtual.container ~= "none" -- its kernel is somebody else's
file.defaults { owner = "root", group = "root", mode = "0644" }

local redis = package { want.package }

local settings = tbl.merge({}, want.settings)
if want.password_file then settings.requirepass = secret.file(want.password_file) end
local lines = { "# Written by ccm." }
for name, value in tbl.pairs(settings) do
  for _, v in ipairs(type(value) == "table" and value or { value }) do
    lines[#lines + 1] = name .. " " .. tostring(v)
  end
end
local conf = file {
  want.config,
  content = str.join(lines, "\n") .. "\n",
  owner = want.owner,
  group = want.group,
  mode = "0640",
  require = redis,
}

local limits = unit {
  want.service .. ".service",
  dropin = "limits",
  content = ("[Service]\nLimitNOFILE=%d\n"):format(want.open_files),
  require = redis,
}

if not container then
  for name, value in tbl.pairs(want.kernel) do
    sysctl { name, value = value, path = "/etc/sysctl.d/60-redis.conf", before = "service#" .. want.service }
  end
end

service { want.service, enable = true, subscribe = { conf, limits } }

-- timezone: sets the time zone of the machine.
--
--   std.timezone { "Europe/Berlin" }

local zones = "/usr/share/zoneinfo/"

-- The file that Debian's timedatectl keeps besides the link.
local name_file = "/etc/timezone"

-- The time zone of a link to a file of zoneinfo.
local function zone_of(target) return re.replace(target, [[^(\.\.)?/usr/share/zoneinfo/]], "") end

return ccm.type {
  name = "timezone",
  doc = "Sets the time zone of the machine: the link /etc/localtime, and /etc/timezone where it exists.",
  commands = {},
  properties = {
    name = { name = true, doc = "The name of the time zone, as in /usr/share/zoneinfo.", example = "Europe/Berlin" },
  },
  phrases = { update = "set the time zone" },

  validate = function(want)
    if not re.test(want.name, [[^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$]]) then return "name", "expected a time zone such as Europe/Berlin, got " .. inspect(want.name) end
  end,

  status = function(want, host)
    if not host.stat(zones .. want.name) or host.is_directory(zones .. want.name) then
      error(("no such time zone %s in %s (install the package tzdata)"):format(want.name, zones), 0)
    end
    local found, text = host.stat("/etc/localtime"), host.read(name_file)
    if found and found.kind ~= "link" and found.kind ~= "file" then error("expected a link at /etc/localtime, found a " .. found.kind, 0) end
    local zone = found and (found.target and zone_of(found.target) or "a file") or "none"
    return {
      name = zone, kind = found and found.kind or "none", localtime = zone,
      timezone = text and str.trim(text),
    }
  end,

  decide = function(want, have)
    local diff = {}
    if have.localtime ~= want.name then diff[1] = { "name", have.localtime, want.name } end
    if have.timezone and have.timezone ~= want.name then diff[#diff + 1] = { "name", have.timezone .. " in " .. name_file, want.name } end
    if #diff > 0 then return { diff = diff, actions = { { "update", "set the time zone" } } } end
  end,

  leaves = function(want, have)
    local list = { { path = "/etc/localtime", kind = "link", target = zones .. want.name } }
    if not have then
      list[2] = { path = name_file }
    elseif have.timezone then
      list[2] = { path = name_file, kind = "file", content = want.name .. "\n" }
    end
    return list
  end,

  perform = function(_, want, have, host)
    if have.localtime ~= want.name then
      if have.kind == "file" then host.remove("/etc/localtime") end
      host.symlink(zones .. want.name, "/etc/localtime")
    end
    if have.timezone and have.timezone ~= want.name then host.write(name_file, want.name .. "\n") end
  end,
}

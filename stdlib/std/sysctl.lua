-- sysctl: keeps a parameter of the kernel, now and at boot.
--
--   std.sysctl { "net.ipv4.ip_forward", value = 1 }
--   std.sysctl { "vm.swappiness", value = 10, path = "/etc/sysctl.d/60-database.conf" }

local boot, lines = require "std.sysctl_files", require "std.lines"

-- The file of the running kernel. If the first separator of the name is a slash, slashes and dots are literal; if it
-- is a dot, they are exchanged (sysctl.d(5)).
local function proc(want)
  local slashes = want.name:match("[./]") == "/"
  return "/proc/sys/" .. (slashes and want.name or want.name:gsub("[./]", { ["."] = "/", ["/"] = "." }))
end

-- The text of the file with the setting, or without it if it is to be absent.
local function edited(want, text)
  local found, line = boot.find(text, want.name), want.ensure == "present" and want.name .. " = " .. want.value
  local changes = tbl.map(found, function(i) return { from = i, to = i, lines = {} } end)
  if line then
    if #changes == 0 then changes[1] = {} end
    changes[1].lines = { line }
  end
  return lines.changed(text, changes)
end

-- Parameters with which the kernel changes many others, and the directories of these.
local coupled = {
  { [=[^net[./]ipv4[./](ip_forward$|conf[./].*[./]forwarding$)]=], "/proc/sys/net/ipv4" },
  { [=[^net[./]ipv6[./]conf[./].*[./](forwarding|proxy_ndp|disable_ipv6|disable_policy|ignore_routes_with_linkdown|addr_gen_mode)$]=], "/proc/sys/net/ipv6/conf" },
  { [=[^vm[./].*(_ratio|bytes|hugepages)$]=], "/proc/sys/vm" },
}

-- The parameters of interfaces that the kernel changes along with a default of IPv4, unless they were set themselves.
local interfaces = "/proc/sys/net/ipv4/conf"
local function default(want)
  local m = re.match(want.name, [[^net[./]ipv4[./]conf[./]default[./]([^./]+)$]])
  return m and m[1]
end

return ccm.type {
  name = "sysctl",
  doc = "Manages a kernel setting: in a file that is read at boot, and in the running kernel.",
  commands = { "sysctl" },
  properties = {
    name = { name = true, doc = "The name of the setting.", example = "net.ipv4.ip_forward" },
    value = { one_line = true, scalar = true, doc = "The value of the setting. Required unless ensure is absent." },
    path = { type = "path", default = "/etc/sysctl.d/60-ccm.conf", doc = "The file that is read at boot." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the setting should be in the file. With absent the running kernel keeps its value." },
  },
  phrases = { create = "set the kernel setting", update = "changed the kernel setting", remove = "removed the kernel setting" },

  validate = function(want)
    if not re.test(want.name, [[^[\w-]+([./][\w-]+)*$]]) then return "name", "expected a setting name such as vm.swappiness, got " .. inspect(want.name) end
    if tbl.contains(boot.directories, path.dir(want.path)) and path.ext(want.path) ~= ".conf" then
      return "path", "expected a name that ends with .conf (only those are read at boot), got " .. inspect(want.path)
    end
    if want.ensure == "present" and not want.value then return "value is required unless ensure is absent" end
  end,

  status = function(want, host)
    local text, at = host.read(want.path), host.stat(want.path)
    if at and at.kind == "link" and want.ensure == "present" then error(("%s is a link to %s, and is not replaced"):format(want.path, at.target), 0) end
    local found, value = boot.find(text or "", want.name)
    local have = { ensure = #found > 0 and "present" or "absent", file = boot.words(value), text = text }
    if want.ensure == "absent" then return have end
    boot.warn(want, host)
    -- A machine that is only a directory has no running kernel, even if the /proc of this machine is mounted there.
    local running = host.live and boot.words(host.read(proc(want))) or nil
    if host.root == "/" and host.live and not running then error("no such kernel setting: " .. want.name, 0) end
    have.running = running
    have.interfaces = default(want) and host.is_directory(interfaces) and host.list(interfaces) or {}
    have.fits = not running or boot.fits(running, want.value)
    if not have.fits and re.test(host.stat(proc(want)).mode, "^0?[0145]+$") then error(("%s is read-only: the kernel lets nobody change it"):format(proc(want)), 0) end
    have.value = have.file ~= boot.words(want.value) and (have.file or "") or not have.fits and running or want.value
    return have
  end,

  leaves = function(want, have)
    local list = {}
    if not have then
      list[1] = { path = want.path }
    elseif want.ensure == "absent" or boot.words(want.value) ~= have.file then
      list[1] = { path = want.path, kind = "file", content = edited(want, have.text or "") }
    end
    if want.ensure == "present" and (not have or not have.fits) then
      list[#list + 1] = { path = proc(want), kind = "file" }
      for _, c in ipairs(coupled) do
        if re.test(want.name, c[1]) then list[#list + 1] = { path = c[2] } end
      end
      for _, name in ipairs(have and have.interfaces or {}) do
        if name ~= "all" then list[#list + 1] = { path = path.join(interfaces, name, default(want)) } end
      end
      if default(want) and not have then list[#list + 1] = { path = interfaces } end
    end
    return list, "commands"
  end,

  programs = function(action, _, have) return action ~= "remove" and not have.fits and { "sysctl" } or {} end,

  perform = function(action, want, have, host)
    -- The file that is read at boot is written last, so that it never has a value that the kernel
    -- refuses.
    if action ~= "remove" and not have.fits then
      host.run { "sysctl", "-q", "-w", want.name .. "=" .. want.value }
    end
    if action == "remove" or boot.words(want.value) ~= have.file then
      boot.write(want, host, edited(want, host.read(want.path) or ""))
    end
  end,
}

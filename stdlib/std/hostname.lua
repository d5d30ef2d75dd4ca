-- hostname: sets the name of the machine, now and at boot.
--
--   std.hostname { "web1.example.org" }

-- The file of the running kernel.
local proc = "/proc/sys/kernel/hostname"

-- The name in the text of /etc/hostname, which may have comments.
local function name_in(text)
  return tbl.find(tbl.map(str.lines(text or ""), str.trim), function(l) return l ~= "" and not str.starts(l, "#") end)
end

return ccm.type {
  name = "hostname",
  doc = "Sets the host name, in /etc/hostname and in the running kernel. Does not change /etc/hosts.",
  commands = { "hostnamectl", "hostname" },
  properties = {
    name = { name = true, doc = "The host name.", example = "web1.example.org" },
  },
  phrases = { update = "set the host name" },

  validate = function(want)
    if #want.name > 64 or not re.test(want.name, [[^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$]]) then
      return "name", "expected a name of letters, digits, hyphens and dots, of at most 64 characters, got " .. inspect(want.name)
    end
  end,

  status = function(_, host)
    -- A machine that is only a directory has no running kernel.
    local file = name_in(host.read("/etc/hostname")) or "none"
    return { name = file, file = file, running = host.root == "/" and host.live and str.trim(host.read(proc) or "") or nil }
  end,

  decide = function(want, have)
    local diff = {}
    if have.file ~= want.name then diff[1] = { "name", have.file .. " in /etc/hostname", want.name } end
    if have.running and have.running ~= want.name then diff[#diff + 1] = { "name", have.running, want.name } end
    if #diff > 0 then return { diff = diff, actions = { { "update", "set the host name" } } } end
  end,

  leaves = function(want, have)
    local list = {}
    if not have or have.file ~= want.name then list[1] = { path = "/etc/hostname", kind = "file", content = want.name .. "\n" } end
    if not have or have.running and have.running ~= want.name then list[#list + 1] = { path = proc } end -- by a call of the kernel, also where /proc/sys is read-only
    return list, "commands"
  end,

  programs = function(_, want, have, host)
    if not have.running or have.running == want.name then return {} end
    return not (host.stat "/run/systemd/system" and host.which "hostnamectl") and { "hostname" } or {}
  end,

  perform = function(_, want, have, host)
    if have.file ~= want.name then host.write("/etc/hostname", want.name .. "\n") end
    if not have.running or have.running == want.name then return end
    -- With systemd, hostnamectl notifies the programs that get the name from systemd.
    if host.stat("/run/systemd/system") and host.which("hostnamectl") then
      host.run { "hostnamectl", "--static", "--transient", "set-hostname", want.name }
    else
      host.run { "hostname", want.name }
    end
  end,
}

-- Reads and changes units of systemd, for the types unit and timer.

local systemd = { directory = "/etc/systemd/system" }

--- Whether systemd is running on the machine of host, and not just installed.
function systemd.runs(host) return host.root == "/" and host.stat("/run/systemd/system") ~= nil end

--- Returns properties of a unit, such as { ActiveState = "active" }. For a pattern such as app@*.service each value
--- has a word for every loaded unit: "active failed". Without a running systemd only UnitFileState is known, from the
--- files.
function systemd.show(host, unit, ...)
  if not systemd.runs(host) then
    if not host.which("systemctl") or str.contains(unit, "*") then return {} end
    local state = host.query { "systemctl", "--root", host.root, "is-enabled", unit, check = false }
    return { UnitFileState = state }
  end
  local out = host.query { "systemctl", "show", "--property", str.join({ ... }, ","), "--", unit }
  local found = {}
  for _, l in ipairs(str.lines(out)) do
    local name, value = str.cut(l, "=")
    if name ~= "" then found[name] = found[name] and found[name] .. " " .. value or value end
  end
  return found
end

--- Runs systemctl, if systemd is running.
function systemd.ctl(host, ...)
  if systemd.runs(host) then host.run { "systemctl", ... } end
end

--- Enables or disables a unit at boot, whether systemd is running or not.
function systemd.enable(host, unit, on)
  local verb = on and "enable" or "disable"
  if systemd.runs(host) then return host.run { "systemctl", "--quiet", verb, "--", unit } end
  host.run { "systemctl", "--quiet", "--root", host.root, verb, "--", unit }
end

return systemd

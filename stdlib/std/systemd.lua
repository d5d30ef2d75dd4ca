-- What the types unit and timer know of systemd.

local systemd = { directory = "/etc/systemd/system" }

--- Whether a systemd is running on the machine of host, and not only its files
--- are there.
function systemd.runs(host) return host.root == "/" and host.stat("/run/systemd/system") ~= nil end

--- Returns properties of a unit, such as { ActiveState = "active" }. Of a pattern such as app@*.service
--- each has a word for every unit that systemd has loaded: "active failed". If systemd is not running,
--- only what its files tell: UnitFileState.
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

--- Runs systemctl, on a running systemd.
function systemd.ctl(host, ...)
  if systemd.runs(host) then host.run { "systemctl", ... } end
end

--- Has a unit start at boot, or not, whether systemd is running or not.
function systemd.enable(host, unit, on)
  local verb = on and "enable" or "disable"
  if systemd.runs(host) then return host.run { "systemctl", "--quiet", verb, "--", unit } end
  host.run { "systemctl", "--quiet", "--root", host.root, verb, "--", unit }
end

return systemd

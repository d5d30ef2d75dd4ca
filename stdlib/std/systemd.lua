-- Reads and changes units of systemd, for the types unit and timer.

local systemd = { directory = "/etc/systemd/system" }

--- Whether systemd is running on the machine of host, and not just installed.
function systemd.runs(host) return host.root == "/" and host.live and host.stat("/run/systemd/system") ~= nil end

--- Returns properties of a unit, such as { ActiveState = "active" }. For a pattern such as app@*.service each value
--- has a word for every loaded unit: "active failed". Without a running systemd only UnitFileState is known, from the
--- files.
function systemd.show(host, unit, ...)
  if not systemd.runs(host) then
    if not host.which("systemctl") or str.contains(unit, "*") then return {} end
    local state = host.query { "systemctl", "--root", host.root, "is-enabled", unit, check = false, below_root = true }
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

--- Fails if a link to /dev/null, which masks a unit, is in the place of its file.
function systemd.refuse_mask(host, file)
  local found = host.stat(file)
  if not found or found.kind ~= "link" or found.target ~= "/dev/null" then return end
  error(("%s is masked: %s is a link to /dev/null (remove it with service { %q, mask = false })"):format(path.base(file), file, path.base(file)), 0)
end

--- Runs systemctl, if systemd is running.
function systemd.ctl(host, ...)
  if systemd.runs(host) then host.run { "systemctl", ... } end
end

-- The unit file in another directory to which a link leads by which systemd knows a unit (systemctl link), or nil.
local function linked(host, unit)
  local found = host.stat(systemd.directory .. "/" .. unit)
  local target = found and found.kind == "link" and str.starts(found.target, "/") and found.target or "/dev/null"
  return path.base(target) == unit and target or nil
end

--- Enables or disables a unit at boot, whether systemd is running or not. A unit that is known by a link stays so: disable
--- removes that link too.
function systemd.enable(host, unit, on)
  local root = systemd.runs(host) and {} or { "--root", host.root }
  local target = not on and linked(host, unit)
  local function ctl(...) host.run(tbl.merge(tbl.concat({ "systemctl", "--quiet" }, root, { ... }), { below_root = true })) end
  ctl(on and "enable" or "disable", "--", unit)
  if target and not linked(host, unit) then ctl("link", "--", target) end
end

--- Returns all values of a setting in the text of a unit.
function systemd.settings(text, name)
  local found = {}
  for _, l in ipairs(str.lines(text or "")) do
    if str.starts(l, name .. "=") then found[#found + 1] = str.strip_prefix(l, name .. "=") end
  end
  return found
end

--- Returns the links that systemctl makes when a unit with a text is enabled, for leaves of a type; nil if the text does
--- not determine them.
function systemd.links(unit, text)
  if not text or re.test(text, [[(?m)^Also=|^\w+=.*(\\$|%)]]) then return nil end
  local list, below = {}, { WantedBy = ".wants/" .. unit, RequiredBy = ".requires/" .. unit, UpheldBy = ".upholds/" .. unit, Alias = "" }
  for key, rest in tbl.pairs(below) do
    for _, value in ipairs(systemd.settings(text, key)) do
      for _, n in ipairs(str.fields(value)) do list[#list + 1] = { path = systemd.directory .. "/" .. n .. rest } end
    end
  end
  return list
end

--- Fails if systemd cannot read the time in a property, according to a verb of systemd-analyze, if that is there:
--- systemd would ignore the line, and report it only in the log.
function systemd.check_time(host, property, verb, text)
  if host.root ~= "/" or not host.live or not host.which "systemd-analyze" then return end
  local _, code, problem = host.query { "systemd-analyze", verb, "--", text, check = false }
  if code ~= 0 then error(("%s: %s: %s"):format(property, inspect(text), str.lines(problem)[1] or "not a time"), 0) end
end

-- The last lines of the log of a unit, for an error.
local function log_of(host, unit)
  if not host.which "journalctl" then return "" end
  host.query { "journalctl", "--sync", timeout = "5s", check = false } -- only root may
  local text, code = host.query { "journalctl", "-u", unit, "-n", "10", "--no-pager", "-o", "cat", check = false }
  if code ~= 0 or text == "" or str.starts(text, "-- No entries --") then return "" end
  return "\nend of its log:\n  " .. str.join(str.lines(text), "\n  ")
end

-- Why a unit that was started does not run, nil if it does. The result of a success is left out.
local function failure(u)
  if u.ActiveState == "failed" or u.SubState == "auto-restart" then
    local status = u.ExecMainCode == "1" and ", exit status " .. u.ExecMainStatus or u.ExecMainCode ~= "0" and ", signal " .. (u.ExecMainStatus or "") or ""
    return ("the unit failed after the start (result %s%s)"):format(u.Result or "", u.ExecMainStatus and status or "")
  end
  if u.ActiveState ~= "inactive" then return nil end
  if u.Type == "oneshot" then return "the unit finished: a oneshot service without RemainAfterExit=yes is never active" end
  return "the unit is not active after the start"
end

--- Starts or restarts a unit, if systemd is running, and fails with the reason and the last lines of its log if it is
--- not active afterwards. A process that ends within half a second counts.
function systemd.start(host, unit, verb)
  if not systemd.runs(host) then return end
  local ok, err = pcall(host.run, { "systemctl", verb or "start", "--", unit })
  local why = not ok and err
  for i = 1, ok and 4 or 0 do
    local u = systemd.show(host, unit, "ActiveState", "SubState", "Result", "ExecMainCode", "ExecMainStatus", "Type")
    why = failure(u)
    if why or not str.ends(unit, ".service") or u.SubState == "exited" then break end
    if i < 4 then host.query { "sleep", "0.15" } end
  end
  if why then error(tostring(why) .. log_of(host, unit), 0) end
end

return systemd

-- wait_for: waits until a port answers, a file is there or a page can be had. It changes nothing.
--
--   std.wait_for { "database", host = "db.example.org", port = 5432, within = "2m" }
--   std.wait_for { "/run/app/app.sock" }
--   std.wait_for { "app", url = "http://127.0.0.1:8080/health", match = "ok", require = "service#app" }

-- A description of the condition.
local function what(want)
  local place = want.url or want.port and ("port %d of %s"):format(want.port, want.host) or want.file or want.name
  return want.match and ("%s in %s"):format(inspect(want.match), place) or place
end

-- Whether the condition holds now, and if not, the reason.
local function there(want, host)
  if want.port then return host.connects(want.host, want.port) end
  local text, why
  if want.url then
    local got, answer = pcall(http.get, want.url, { timeout = "10s" })
    text, why = got and answer or nil, not got and re.replace(tostring(answer), [[^\S+: http\.get: ]], "") or nil
  else
    local file = want.file or want.name
    if host.stat(file) then text = want.match and host.read(file) or "" end
    why = file .. " does not exist"
  end
  if text and want.match and not re.test(text, want.match) then return false, ("no match for %s, got %s"):format(inspect(want.match), inspect(text:sub(1, 100))) end
  return text ~= nil, why
end

local function is_done(want, host)
  local found, why = there(want, host)
  if want.ensure == "absent" then return not found, "it exists" end
  return found, why
end

return ccm.type {
  name = "wait_for",
  doc = "Waits until a port is open, a file exists or a URL responds, and fails after a timeout. Read-only.",
  commands = { "sleep" },
  properties = {
    name = { name = true, one_line = true, doc = "Any name; the path of a file if none of port, file and url is given.", example = "database" },
    port = { type = "integer", doc = "The TCP port to connect to." },
    host = { one_line = true, default = "127.0.0.1", doc = "The host name or address for port." },
    file = { type = "path", doc = "The path to wait for: a file, a socket or a directory.", example = "/run/app/app.sock" },
    url = { doc = "The http or https URL that must return status 200.", example = "http://127.0.0.1:8080/health" },
    match = { type = "regexp", doc = "A regular expression that the file or the response must match.", example = "ready" },
    within = { doc = "The maximum time to wait. Default: timeout, or one minute." },
    interval = { default = "1s", doc = "The time between checks." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether to wait until it exists or until it is gone." },
  },

  validate = function(want)
    local given = tbl.filter({ "port", "file", "url" }, function(p) return want[p] end)
    if #given > 1 then return given[2], "expected one of port, file and url, got also " .. given[1] end
    if #given == 0 and not str.starts(want.name, "/") then return "expected one of port, file and url, or the path of a file as the name" end
    if want.port and (want.port < 1 or want.port > 65535) then return "port", "expected a port from 1 to 65535, got " .. want.port end
    if want.host == "" then return "host", "expected a host, got an empty string" end
    if want.match and want.port then return "match", "requires file or url" end
    if want.url and not re.test(want.url, "^https?://[^/]") then return "url", "expected an http or https URL, got " .. inspect(want.url) end
    for _, p in ipairs { "within", "interval" } do
      local ok, seconds = pcall(time.duration, want[p] or "1m")
      if not ok or seconds <= 0 then return p, "expected a duration such as 30s, got " .. inspect(want[p]) end
    end
  end,

  status = function(want, host)
    local done, why = is_done(want, host)
    return { ensure = done and want.ensure or want.ensure == "absent" and "present" or "absent", why = why }
  end,

  decide = function(want, have)
    if have.ensure == want.ensure then return end
    local goal = want.ensure == "absent" and " is gone" or want.port and " answers" or " is there"
    local intent = ("wait until %s%s"):format(what(want), goal)
    if want.within then intent = ("wait at most %s until %s%s"):format(want.within, what(want), goal) end
    return { actions = { { "wait", "waited until " .. what(want) .. goal, intent = intent } }, uncertain = "it would " .. intent }
  end,

  leaves = function() return {} end,

  perform = function(_, want, _, host)
    local seconds, begun = time.duration(want.interval), time.now()
    local left, given = host.time_left(), want.within and time.duration(want.within)
    local limit = math.min(given or left or 60, left or math.huge)
    -- Before the timeout of the resource there is time left to look once more and to report what did not answer.
    local last = left and math.min(limit, left - math.max(left * 0.1, math.min(left, 1) * 0.5)) or limit
    local paused = 0 -- counts too, as a clock may be set back
    while true do
      local done, why = is_done(want, host)
      if done then return false end
      local rest = last - math.max(time.now() - begun, paused)
      if rest <= 0 then
        error(("timed out after %s waiting for %s: %s"):format(limit == given and want.within or ("%gs"):format(math.ceil(limit * 10) / 10), what(want), why), 0)
      end
      local pause = math.max(math.min(seconds, rest), 0.001)
      host.query { "sleep", ("%.3f"):format(pause), below_root = true }
      paused = paused + pause
    end
  end,
}

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
    why = file .. " is not there"
  end
  if text and want.match and not re.test(text, want.match) then return false, ("%s is not in it, got %s"):format(inspect(want.match), inspect(text:sub(1, 100))) end
  return text ~= nil, why
end

local function is_done(want, host)
  local found, why = there(want, host)
  if want.ensure == "absent" then return not found, "it is there" end
  return found, why
end

return ccm.type {
  name = "wait_for",
  doc = "Waits until a port answers, a file is there or a page can be had, and fails if that takes too long. It changes nothing.",
  commands = { "sleep" },
  properties = {
    name = { name = true, one_line = true, doc = "Any name; the path of a file if none of port, file and url is given.", example = "database" },
    port = { type = "integer", doc = "The TCP port that is to answer." },
    host = { one_line = true, default = "127.0.0.1", doc = "The name or address of the machine with the port." },
    file = { type = "path", doc = "The path at which something is to be: a file, a socket, a directory.", example = "/run/app/app.sock" },
    url = { doc = "The page of http or https that is to answer with status 200.", example = "http://127.0.0.1:8080/health" },
    match = { type = "regexp", doc = "A regular expression that the file or the page is to match.", example = "ready" },
    within = { doc = "How long it may take before it fails. Left out, it is timeout, or a minute if that is left out too." },
    interval = { default = "1s", doc = "How long it waits before it looks again." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether it waits for it to be there or to be gone." },
  },

  validate = function(want)
    local given = tbl.filter({ "port", "file", "url" }, function(p) return want[p] end)
    if #given > 1 then return given[2], "expected one of port, file and url, got also " .. given[1] end
    if #given == 0 and not str.starts(want.name, "/") then return "expected one of port, file and url, or the path of a file as the name" end
    if want.port and (want.port < 1 or want.port > 65535) then return "port", "expected a port from 1 to 65535, got " .. want.port end
    if want.match and want.port then return "match", "goes only with a file or a url" end
    if want.url and not re.test(want.url, "^https?://[^/]") then return "url", "expected a URL of http or https, got " .. inspect(want.url) end
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
    if want.within then intent = ("wait %s at most until %s%s"):format(want.within, what(want), goal) end
    return { actions = { { "wait", "waited until " .. what(want) .. goal, intent = intent } }, uncertain = "it would " .. intent }
  end,

  leaves = function() return {} end,

  perform = function(_, want, _, host)
    local seconds, begun = time.duration(want.interval), time.now()
    local left, given = host.time_left(), want.within and time.duration(want.within)
    local limit = math.min(given or left or 60, left or math.huge)
    -- Before the timeout of the resource there is time left to look once more and to say what did not answer.
    local last = left and limit > left * 0.9 and left * 0.9 or limit
    local paused = 0 -- counts too, as a clock may be set back
    while true do
      local done, why = is_done(want, host)
      if done then return false end
      local rest = last - math.max(time.now() - begun, paused)
      if rest <= 0 then
        error(("waited %s in vain for %s: %s"):format(limit == given and want.within or ("%.2gs"):format(limit), what(want), why), 0)
      end
      local pause = math.max(math.min(seconds, rest), 0.001)
      host.query { "sleep", ("%.3f"):format(pause), below_root = true }
      paused = paused + pause
    end
  end,
}

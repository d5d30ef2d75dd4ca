-- unit: keeps a unit file of systemd, or a part of one, and has systemd read it.
--
--   std.unit { "app.service", content = fs.read "files/app.service", enable = true, active = true }
--   std.unit { "nginx limits", unit = "nginx.service", dropin = "limits", content = "[Service]\nLimitNOFILE=65536\n" }
--
-- For a service whose package brings its own unit, use service.

local systemd = require "std.systemd"

local function name(want) return want.unit or want.name end

-- A template such as app@.service is not a unit itself: its state is that of its instances.
local function is_template(want) return str.contains(name(want), "@.") end
local function units(want) return (name(want):gsub("@%.", "@*.")) end

local function any(words, word) return tbl.contains(str.fields(words or ""), word) end

local function file(want)
  local path = systemd.directory .. "/" .. name(want)
  return want.dropin and path .. ".d/" .. want.dropin .. ".conf" or path
end

return ccm.type {
  name = "unit",
  doc = "Keeps a unit file of systemd in /etc/systemd/system and has systemd read it (daemon-reload). A name such as app@.service is a template, whose instances are services: app@blue.",
  commands = { "systemctl", "journalctl", "sleep" },
  properties = {
    name = { name = true, doc = "The name of the unit with its suffix or, if unit is given, any name.", example = "app.service" },
    unit = { doc = "The name of the unit. Left out, it is the name." },
    content = { doc = "The whole file. It is required unless ensure is absent." },
    dropin = { doc = "The name of a drop-in: the file is NAME.d/DROPIN.conf then, and adds to a unit from elsewhere." },
    enable = { type = "boolean", doc = "Whether the unit starts at boot. Left out, that is not managed." },
    active = { type = "boolean", doc = "Whether the unit is to be active now. Left out, that is not managed." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether there is to be such a file. With absent the unit, or each instance of a template, is stopped and disabled before." },
  },

  validate = function(want)
    if not re.test(name(want), [[^[\w:.@\\-]+\.(service|socket|timer|path|mount|automount|swap|target|slice)$]]) then
      return want.unit and "unit" or "name", "expected the name of a unit with its suffix, such as app.service, got " .. inspect(name(want))
    end
    if want.ensure == "present" and not want.content then return "content is required unless ensure is absent" end
    if want.content and want.content:find("\0", 1, true) then return "content", "expected a text without NUL bytes" end
    if is_template(want) and (want.enable ~= nil or want.active ~= nil) then
      return want.enable ~= nil and "enable" or "active",
        ("%s is a template, and only its instances run: service { %q, enable = true }"):format(name(want), (name(want):gsub("@.*", "@NAME")))
    end
    if want.content == "" and not want.dropin then return "content", ("is empty, which masks a unit: service { %q, mask = true }"):format(name(want)) end
    if want.dropin and not re.test(want.dropin, [[^[\w.-]+$]]) then return "dropin", "expected a word, got " .. inspect(want.dropin) end
  end,

  status = function(want, host)
    systemd.refuse_mask(host, file(want))
    local content = host.read(file(want))
    local have = { ensure = content and "present" or "absent", content = content }
    if not content and want.ensure == "absent" then return have end
    local found = systemd.show(host, units(want), "UnitFileState", "ActiveState", "NeedDaemonReload")
    have.enable = any(found.UnitFileState, "enabled")
    have.active = any(found.ActiveState, "active") or any(found.ActiveState, "activating")
    if not systemd.runs(host) then have.active = want.active end
    have.unread = any(found.NeedDaemonReload, "yes")
    return have
  end,

  decide = function(want, have, compare)
    local d = compare()
    if have.unread and want.ensure == "present" and #d.diff == 0 then
      d.diff = { { "content", "not read by systemd yet", "read" } }
      d.actions = { { "update", "had systemd read the unit" } }
    end
    if have.content ~= want.content and want.ensure == "present" then
      d.text = { path = file(want), have = have.content, want = want.content }
    end
    return d
  end,

  leaves = function(want)
    if want.ensure == "absent" then return { { path = file(want), kind = "absent" } }, not want.dropin end
    return { { path = file(want), kind = "file", content = want.content, mode = "0644" } }, want.enable ~= nil or want.active ~= nil
  end,

  perform = function(action, want, have, host)
    if action == "remove" then
      if not want.dropin then
        if have.active then systemd.ctl(host, "stop", "--", units(want)) end
        if have.enable or is_template(want) then systemd.enable(host, name(want), false) end
      end
      host.remove(file(want))
      return systemd.ctl(host, "daemon-reload")
    end
    if have.content ~= want.content then
      host.mkdir(path.dir(file(want)))
      host.write(file(want), want.content, { mode = "0644" })
    end
    systemd.ctl(host, "daemon-reload")
    if want.enable ~= nil and want.enable ~= have.enable then systemd.enable(host, name(want), want.enable) end
    if want.active ~= nil and want.active ~= (have.active or false) then
      if want.active then systemd.start(host, name(want)) else systemd.ctl(host, "stop", "--", name(want)) end
    end
  end,

  -- A refresh by another resource: a unit that is not running stays so.
  refresh = function(want, have, host)
    if have.active then systemd.ctl(host, "try-restart", "--", units(want)) end
  end,
  phrases = { refresh = "restarted the unit" },
}

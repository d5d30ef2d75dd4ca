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
  doc = "Manages a systemd unit file in /etc/systemd/system and reloads systemd (daemon-reload). A name such as app@.service is a template; its instances are services: app@blue.",
  commands = { "systemctl", "journalctl", "sleep" },
  properties = {
    name = { name = true, doc = "The name of the unit with its suffix or, if unit is given, any name.", example = "app.service" },
    unit = { doc = "The name of the unit. Default: the name." },
    content = { doc = "The content of the file. Required unless ensure is absent." },
    dropin = { doc = "The name of a drop-in: the file is then NAME.d/DROPIN.conf, and extends an existing unit." },
    enable = { type = "boolean", doc = "Whether the unit starts at boot. Not managed if unset." },
    active = { type = "boolean", doc = "Whether the unit should be active. Not managed if unset." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the file should exist. With absent the unit, or each instance of a template, is stopped and disabled first." },
  },

  validate = function(want)
    if not re.test(name(want), [[^[\w:.@\\-]+\.(service|socket|timer|path|mount|automount|swap|target|slice)$]]) then
      return want.unit and "unit" or "name", "expected a unit name with its suffix, such as app.service, got " .. inspect(name(want))
    end
    if want.ensure == "present" and not want.content then return "content is required unless ensure is absent" end
    if want.content and want.content:find("\0", 1, true) then return "content", "expected a string without NUL bytes" end
    if is_template(want) and (want.enable ~= nil or want.active ~= nil) then
      return want.enable ~= nil and "enable" or "active",
        ("%s is a template: only its instances can run (service { %q, enable = true })"):format(name(want), (name(want):gsub("@.*", "@NAME")))
    end
    if want.content == "" and not want.dropin then return "content", ("is empty, which masks the unit (use service { %q, mask = true })"):format(name(want)) end
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
    if have.enable and not want.dropin and want.enable ~= true then have.links = host.glob(systemd.directory .. "/*/" .. units(want)) end
    return have
  end,

  decide = function(want, have, compare)
    local d = compare()
    if have.unread and want.ensure == "present" and #d.diff == 0 then
      d.diff = { { "content", "not loaded by systemd yet", "read" } }
      d.actions = { { "update", "reloaded systemd" } }
    end
    if have.content ~= want.content and want.ensure == "present" then
      d.text = { path = file(want), have = have.content, want = want.content }
    end
    return d
  end,

  leaves = function(want, have)
    local gone = want.ensure == "absent"
    local list = { gone and { path = file(want), kind = "absent" } or { path = file(want), kind = "file", content = want.content, mode = "0644" } }
    local more = (gone and not want.dropin or want.active ~= nil) and "services" or want.enable ~= nil and "commands"
    if not (gone and more) and want.enable == nil then return list, more end
    local links = not want.dropin and have and systemd.links(name(want), not gone and want.content or have.content)
    if not links then return list, true end
    return tbl.concat(list, links, tbl.map(have.links or {}, function(p) return { path = p } end)), more
  end,

  programs = function(action, want, have)
    local enables = action == "remove" and have.enable and not want.dropin or action ~= "remove" and want.enable ~= nil and want.enable ~= have.enable
    return enables and { { "systemctl", below_root = true } } or {}
  end,

  recreate = require("std.recreate").unit,

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

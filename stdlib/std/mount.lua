-- mount: keeps a file system mounted, now and at boot.
--
--   std.mount { "/srv/data", device = "LABEL=data", type = "ext4", options = { "noatime" }, pass = 2 }
--   std.mount { "/tmp", device = "tmpfs", type = "tmpfs", options = { "nosuid", "nodev", "size=512M" } }
--   std.mount { "/srv/www", device = "/var/lib/web/www", type = "none", options = { "bind" } }

local fstab, mount_options = require "std.fstab", require "std.mount_options"
local devices, safepath = require "std.devices", require "std.safepath"

-- The action for the mounted file system, and its description; nothing if it is as desired, or if the machine is only
-- a directory.
local function task(want, have)
  if not have.mounted or want.ensure == "present" then return end
  local off = want.ensure ~= "mounted"
  if off then
    if have.mounted ~= "nothing" then return "unmount", "unmounted it" end
  elseif have.mounted ~= "it" then
    if have.mounted == "nothing" then return "mount", "mounted it" end
    return "replace", "mounted it in place of " .. have.other
  elseif #have.lacks > 0 or have.found and not tbl.equal(fstab.wanted(want, have.found).options, have.options) then
    return "remount", "remounted it with its options"
  end
end

return ccm.type {
  name = "mount",
  doc = "Manages a mounted file system: now, and at boot by a line in /etc/fstab. A missing directory is created, and removed only if the mount fails. ccm undo restores /etc/fstab, but does not unmount or remove the directory.",
  commands = { "mount", "umount", "readlink", "test", "findfs", "systemctl" },
  properties = {
    name = { name = true, type = "path", doc = "The mount point. Only root may be able to replace it or a directory above it.", example = "/srv/data" },
    device = { one_line = true, doc = "The source: a device, LABEL=, UUID=, host:/path of NFS, the directory of a bind mount, or tmpfs. Only root may be able to replace a path. Default: the one in fstab.", example = "LABEL=data" },
    type = { one_line = true, doc = "The file system type, as for mount -t. Default: the one in fstab, or auto." },
    options = { type = "list", one_line = true, doc = "The mount options. Changes are applied to the mounted file system (mount -o remount, or unmount and mount where needed, such as NFS). Default: those in fstab, or defaults.", example = "noatime" },
    dump = { type = "integer", doc = "The fifth field of fstab, for dump. Default: the existing value, or 0." },
    pass = { type = "integer", doc = "The sixth field of fstab: the order of fsck, 0 for never. Default: the existing value, or 0." },
    ensure = { enum = { "mounted", "unmounted", "present", "absent" }, default = "mounted", doc = "mounted: in fstab and mounted; unmounted: in fstab only; present: in fstab, mounted or not; absent: neither. A busy file system cannot be unmounted. With another file system mounted in it, absent keeps both." },
  },

  validate = function(want)
    if want.type == "swap" then return "type", "use std.swap for swap (swap { " .. inspect(want.device or "LABEL=swap") .. " })" end
    for _, p in ipairs { "device", "type" } do
      if want[p] and not re.test(want[p], p == "type" and [[^[\w.,-]+$]] or [[^[^#\s][^\r\n]*$]]) then return p, "expected such as " .. (p == "type" and "ext4" or "LABEL=data") .. ", got " .. inspect(want[p]) end
    end
    for _, p in ipairs { "name", "device" } do
      if re.test(want[p] or "", [[\\[0-7]{3}]]) then return p, "expected unescaped blanks (ccm escapes them in fstab), got " .. inspect(want[p]) end
    end
    for _, o in ipairs(want.options or {}) do
      if not re.test(o, [[^[^,\s]+$]]) then return "options", "expected one option per item, such as noatime, got " .. inspect(o) end
      if str.count(o, '"') % 2 > 0 then return "options", "expected quotes in pairs, because what follows would be a part of it, got " .. inspect(o) end
      if re.test(o, "^r?bind$") and want.device and not str.starts(want.device, "/") then return "device", "expected an absolute path with " .. o .. ", got " .. inspect(want.device) end
    end
  end,

  status = function(want, host)
    local text = host.read(fstab.path) or ""
    if want.ensure ~= "absent" then safepath.refuse_link(host, want.name) end
    local _, found = fstab.edited(want, text)
    local entry = fstab.wanted(want, found)
    local have = tbl.merge({ text = text, found = found, lacks = {} }, found or {})
    if host.root == "/" and host.live then
      local now, inner = fstab.mounted(host, safepath.resolved(host, want.name) or want.name)
      if now or want.ensure ~= "absent" then fstab.refuse_users_paths(host, want.name, entry) end
      have.mounted = not now and "nothing" or entry.device and not fstab.is_same(host, entry, now, want.name) and "other" or "it"
      if want.ensure == "mounted" and have.mounted ~= "it" then devices.check(host, entry) end
      have.inner = now and inner
      have.other = now and now.device .. " (" .. now.type .. ")"
      have.lacks = now and now.type ~= "autofs" and mount_options.lacks(entry.options, now.options) or {}
    end
    local off = not have.mounted or have.mounted == "nothing"
    have.ensure = found and (have.mounted and want.ensure ~= "present" and (off and "unmounted" or "mounted") or want.ensure ~= "absent" and want.ensure or "present")
      or off and "absent" or "mounted, but not in fstab"
    return have
  end,

  decide = function(want, have, compare)
    if want.ensure ~= "absent" and not want.device and not have.found then return { error = "device is required, because /etc/fstab does not contain " .. want.name } end
    local d, now, verb, phrase = compare(), (fstab.edited(want, have.text)), task(want, have)
    if have.inner and want.ensure ~= "absent" and (verb == "unmount" or verb == "replace") then return { error = ("%s cannot be unmounted, because %s is mounted in it (unmount that first)"):format(want.name, have.inner) } end
    if verb == "replace" then table.insert(d.diff, { "device", have.other, fstab.wanted(want, have.found).device }) end
    if verb == "remount" and #d.diff == 0 then table.insert(d.diff, { "options", "without " .. str.join(have.lacks, ","), str.join(fstab.wanted(want, have.found).options, ",") }) end
    d.actions = { verb and { verb, phrase } }
    if now ~= have.text then
      table.insert(d.actions, { "update_fstab", want.ensure == "absent" and "removed it from /etc/fstab" or have.found and "updated /etc/fstab" or "added it to /etc/fstab" })
      if #d.diff == 0 then d.diff = { { "ensure", "twice in fstab", want.ensure } } end
      d.text = { path = fstab.path, have = have.text, want = now }
    end
    return d
  end,

  leaves = function(want, have)
    if want.ensure == "absent" and have and have.inner then return { { path = have.inner, kind = "absent" } } end -- mounted, so all is kept
    local list = { { path = fstab.path, kind = have and "file", content = have and fstab.edited(want, have.text) } }
    if not have or task(want, have) then list[2] = { path = want.name } end
    return list, "commands"
  end,

  programs = function(action) return ({ mount = { "mount" }, unmount = { "umount" }, replace = { "umount", "mount" }, remount = { "mount" } })[action] end,
  recreate = require("std.recreate").mount,
  perform = function(action, want, have, host)
    local e = fstab.wanted(want, have.found)
    -- With nofail, mount would succeed without a device.
    local options = str.join(tbl.filter(e.options, function(o) return o ~= "nofail" end), ",")
    if options == "" then options = "defaults" end
    if action == "update_fstab" then
      return fstab.write(host, (fstab.edited(want, host.read(fstab.path) or "")))
    end
    if action == "remount" then return mount_options.remount(host, e, want.name, options) end
    if action ~= "mount" then host.run { "umount", "--", want.name } end
    if action == "unmount" then return end
    local made = not host.is_directory(want.name) and host.missing_parents(path.join(want.name, "x")) or {}
    if #made > 0 then host.mkdir(want.name) end
    fstab.refuse_users_paths(host, want.name, e) -- what was not there before may be a user's
    -- The file that is read at boot is written last, so that it never has a file system that cannot be
    -- mounted.
    local ok, err = pcall(host.run, { "mount", "-t", e.type, "-o", options, "--", e.device, want.name })
    if ok then return end
    for _, dir in ipairs(tbl.reverse(made)) do pcall(host.remove, dir) end -- unless somebody has put something there
    error(err, 0)
  end,
}

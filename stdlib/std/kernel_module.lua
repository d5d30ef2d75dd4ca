-- kernel_module: keeps a module of the kernel loaded, now and at boot.
--
--   std.kernel_module { "br_netfilter" }
--   std.kernel_module { "nf_conntrack", options = "hashsize=65536" }

local head = "# Kept by ccm.\n"

local function load_file(want) return "/etc/modules-load.d/" .. want.name .. ".conf" end
local function options_file(want) return "/etc/modprobe.d/" .. want.name .. ".conf" end

-- The wanted contents of the files, by path; false for a file that must not exist. Options that are not given stay as
-- they are, and so does a file of somebody else.
local function files(want, have)
  local list = { [load_file(want)] = want.ensure == "present" and head .. want.name .. "\n" }
  if want.ensure == "present" and want.options then
    list[options_file(want)] = head .. "options " .. want.name .. " " .. want.options .. "\n"
  elseif want.ensure == "absent" and str.starts(have.options_text or "", head) then
    list[options_file(want)] = false
  end
  return list
end

-- The state of the module in the running kernel: "loaded", "built in" or "not loaded".
local function state(want, host)
  -- The kernel writes hyphens as underscores.
  local id = want.name:gsub("-", "_")
  local release = str.trim(host.read("/proc/sys/kernel/osrelease") or "")
  local builtin = host.read("/lib/modules/" .. release .. "/modules.builtin") or ""
  if re.test(builtin:gsub("-", "_"), [[(?m)/]] .. re.escape(id) .. [[\.ko$]]) then return "built in" end
  return host.stat("/sys/module/" .. id .. "/initstate") and "loaded" or "not loaded"
end

-- Fails if the module cannot be loaded: there is no modprobe, or the kernel has no such module.
local function check(want, host)
  if not host.which "modprobe" then error("modprobe is not installed (install the package kmod)", 0) end
  local _, code, err = host.query { "modprobe", "--dry-run", want.name, check = false }
  if code ~= 0 and err:find("not found", 1, true) then error(str.trim(err), 0) end
end

return ccm.type {
  name = "kernel_module",
  doc = "Manages a kernel module: loaded now by modprobe, and at boot by a file in /etc/modules-load.d.",
  commands = { "modprobe" },
  properties = {
    name = { name = true, doc = "The name of the module.", example = "br_netfilter" },
    options = { one_line = true, doc = "The parameters of the module, stored in /etc/modprobe.d. A loaded module gets them when it is loaded again.", example = "hashsize=65536" },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the module should be loaded. With absent it is unloaded, which fails if it is in use; others may load it again." },
  },
  phrases = { create = "added the module", update = "updated the module", remove = "removed the module" },

  validate = function(want)
    if not re.test(want.name, [[^[\w-]+$]]) then return "name", "expected a module name such as br_netfilter, got " .. inspect(want.name) end
    if want.options and not re.test(want.options, [[^[^\s#\\][^\r\n\\]*$]]) then return "options", "expected parameters on one line such as hashsize=65536, got " .. inspect(want.options) end
  end,

  status = function(want, host)
    local have = { text = host.read(load_file(want)), options_text = host.read(options_file(want)) }
    -- A machine that is only a directory has no running kernel.
    have.state = host.root == "/" and host.live and state(want, host) or nil
    have.ensure = have.text and "present" or "absent"
    if want.ensure == "absent" and (have.state == "loaded" or str.starts(have.options_text or "", head)) then have.ensure = "present" end
    if want.ensure == "present" and have.state == "not loaded" then check(want, host) end
    if want.ensure == "absent" and have.state == "built in" then error("the module is built into the kernel and cannot be removed", 0) end
    have.options = have.options_text and (re.match(have.options_text, [[(?m)^options\s+]] .. re.escape(want.name) .. [[\s+(.*?)\s*$]]) or {})[1] or ""
    return have
  end,

  decide = function(want, have, compare)
    local d = compare()
    if want.ensure == "absent" then return d end
    if have.state == "not loaded" then table.insert(d.diff, { "name", "not loaded", "loaded" }) end
    for file, text in tbl.pairs(files(want, have)) do
      local found = file == load_file(want) and have.text or have.options_text
      if #d.diff == 0 and found ~= text then d.diff = { { "name", "other lines in " .. file, want.name } } end
    end
    if #d.diff > 0 and #d.actions == 0 then d.actions = { { "update", "updated the module" } } end
    return d
  end,

  leaves = function(want, have)
    local list = {}
    for file, text in tbl.pairs(files(want, have or {})) do
      list[#list + 1] = { path = file, kind = text and "file" or "absent", content = text or nil }
    end
    if not have then list[#list + 1] = { path = options_file(want) } end
    -- A module brings and removes settings, devices and other files of the kernel.
    if not have or have.state == (want.ensure == "present" and "not loaded" or "loaded") then
      list = tbl.concat(list, { { path = "/proc" }, { path = "/sys" }, { path = "/dev" } })
    end
    return list, "commands"
  end,
  programs = function(_, want, have) return have.state == (want.ensure == "present" and "not loaded" or "loaded") and { "modprobe" } or {} end,
  recreate = require("std.recreate").kernel_module,
  perform = function(_, want, have, host)
    local function put(file, text)
      if not text then return host.remove(file) end
      host.mkdir(path.dir(file))
      host.write(file, text)
    end
    local function keep(file)
      local text = files(want, have)[file]
      if text ~= nil then put(file, text) end
    end
    -- The file that is read at boot is written last, so that it never names a module that cannot be
    -- loaded.
    if want.ensure == "present" then keep(options_file(want)) end
    if want.ensure == "present" and have.state == "not loaded" then
      local ok, err = pcall(host.run, { "modprobe", want.name })
      if not ok then
        -- With options that the kernel refuses, the module would fail at boot and for others
        -- too.
        if want.options then put(options_file(want), have.options_text) end
        error(err, 0)
      end
    end
    if want.ensure == "absent" and have.state == "loaded" then host.run { "modprobe", "-r", want.name } end
    if want.ensure == "absent" then keep(options_file(want)) end
    keep(load_file(want))
  end,
}

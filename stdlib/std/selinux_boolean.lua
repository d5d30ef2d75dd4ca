-- selinux_boolean: keeps a boolean of SELinux on or off, now and at boot.
--
--   std.selinux_boolean { "httpd_can_network_connect" }
--   std.selinux_boolean { "httpd_enable_homedirs", value = false }

local selinux = require "std.selinux"

local function file(policy) return "/var/lib/selinux/" .. policy .. "/active/booleans.local" end

local function word(bit) return bit == "1" and "on" or "off" end

return ccm.type {
  name = "selinux_boolean",
  doc = "Manages an SELinux boolean: now in the kernel, and at boot as a local policy change.",
  commands = { "setsebool" },
  properties = {
    name = { name = true, doc = "The name of the boolean, as listed by getsebool -a.", example = "httpd_can_network_connect" },
    value = { type = "boolean", default = true, doc = "Whether the boolean is on." },
  },

  validate = function(want)
    if not re.test(want.name, [[^\w+$]]) then return "name", "expected a boolean name such as httpd_can_network_connect, got " .. inspect(want.name) end
  end,

  status = function(want, host)
    local policy = selinux.policy(host)
    local text = host.read(file(policy))
    local kept = re.match(text or "", [[(?m)^]] .. want.name .. [[[ \t]*=[ \t]*([01])]])
    local have = { policy = policy, text = text, boot = kept and word(kept[1]) or "as in the policy", running = word(want.value and "1" or "0") }
    -- Without SELinux in the kernel only the value at boot counts.
    if host.root == "/" and host.stat "/sys/fs/selinux/booleans" then
      local state = host.read("/sys/fs/selinux/booleans/" .. want.name)
      if not state then error("no such boolean in the policy: " .. want.name .. " (list them with getsebool -a)", 0) end
      have.running = word(state:sub(1, 1))
    end
    return have
  end,

  decide = function(want, have)
    local to, diff = want.value and "on" or "off", {}
    if have.running ~= to then diff[1] = { "value", have.running, to } end
    if have.boot ~= to then diff[#diff + 1] = { "value", have.boot .. " at boot", to .. " at boot" } end
    if #diff > 0 then return { diff = diff, actions = { { "update", "turned it " .. to } } } end
  end,

  leaves = function(want, have)
    return selinux.leaves(have, have and file(have.policy), "0600", want.name .. [[[ \t]*=]], want.name .. (want.value and "=1" or "=0")), "commands"
  end,

  programs = function() return { "setsebool" } end,

  perform = function(_, want, _, host) selinux.run(host, { "setsebool", "-P" }, { want.name, want.value and "on" or "off" }) end,
}

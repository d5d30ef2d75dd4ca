-- firewall: keeps rules of nftables in a table of their own. Other tables are not touched.
--
--   std.firewall { "web", rules = [[
--     chain input {
--       type filter hook input priority filter; policy drop;
--       ct state established,related accept; iif lo accept; tcp dport { 22, 80, 443 } accept
--     }
--   ]] }

local lines, include, mark = require "std.lines", 'include "/etc/nftables.d/ccm-*.nft"', "chain kept_by_ccm {"

local function file(want) return "/etc/nftables.d/ccm-" .. want.name .. ".nft" end
-- The text before and after the rules. It replaces the table in one step: the table is declared, so that it can be
-- deleted, and nft applies a file completely or not at all. The empty chain marks a table of ccm whose file is gone,
-- as after ccm undo.
local function frame(want)
  local name = want.family .. " " .. want.name
  return ("# Kept by ccm.\ntable %s\ndelete table %s\ntable %s {\n%s }\n"):format(name, name, name, mark), "}\n"
end

local function rendered(want)
  local head, tail = frame(want)
  return head .. str.trim(want.rules, "\n") .. "\n" .. tail
end
-- The digest of the kernel's table without counters and elements of sets, and whether it has the mark; nil for no table.
local function listing(want, host)
  if host.root ~= "/" or not host.live or not host.which "nft" then return end
  local out, code, err = host.query { "nft", "--stateless", "--terse", "list", "table", want.family, want.name, check = false }
  if code ~= 0 and not err:find("No such file", 1, true) then error(err, 0) end
  if code == 0 then return hash.sha256(out), out:find(mark, 1, true) ~= nil end
end

-- The file that is read at boot: of Debian and Arch, or of Red Hat.
local function main(host)
  return tbl.find({ "/etc/nftables.conf", "/etc/sysconfig/nftables.conf" }, function(f) return host.stat(f) ~= nil end)
end

-- The mistake in rules that would end the table too early. A quoted text has no escapes, and may have several lines.
local function mistake(rules)
  local text, depth = re.replace(rules, [["[^"]*"|#[^\n]*]], ""), 0
  if rules:find("\0", 1, true) or text:find('"', 1, true) then return "expected a string without NUL bytes, and quotes in pairs" end
  if re.test(text, [[(^|[\s;{}])include\b]]) then return "include is not allowed (read a file of the site with fs.read)" end
  for c in text:gmatch("[{}]") do
    depth = depth + (c == "{" and 1 or -1)
    if depth < 0 then return "unmatched } in the rules" end
  end
  return depth > 0 and "unmatched { in the rules" or nil
end

return ccm.type {
  name = "firewall",
  doc = "Manages nftables rules in a separate table, now and at boot. Other tables are not changed.",
  commands = { "nft" },
  properties = {
    name = { name = true, doc = "The name of the table, which is used by this resource only.", example = "web" },
    family = { enum = { "inet", "ip", "ip6", "arp", "bridge", "netdev" }, default = "inet", doc = "The family of the table; inet is IPv4 and IPv6." },
    rules = { doc = "The content of the table: chains, sets and maps, see nft(8). Required unless ensure is absent." },
    ensure = { enum = { "present", "absent" }, default = "present", doc = "Whether the table should exist." },
  },
  phrases = { create = "loaded the rules", update = "replaced the rules", remove = "removed the rules" },

  validate = function(want)
    if not re.test(want.name, [[^[A-Za-z]\w*$]]) then return "name", "expected letters, digits and underscores, got " .. inspect(want.name) end
    if want.ensure == "present" and not want.rules then return "rules", "is required unless ensure is absent" end
    local wrong = want.rules and mistake(want.rules)
    if wrong then return "rules", wrong end
  end,

  status = function(want, host)
    local text, boot, now, ours = host.read(file(want)), main(host), listing(want, host)
    if not text and now and not ours and want.rules then error(("the table %s %s exists and is not managed by ccm (remove it with: nft delete table %s %s)"):format(want.family, want.name, want.family, want.name), 0) end
    local left = not text and ours and (want.rules or want.ensure == "absent") -- ccm import asks for what is kept
    local body, listed = (text or ""):match("^(.*\n)# listed as (%x+)\n$") -- as nft listed what it had loaded
    body = body or text or ""
    local have = { ensure = (text or left) and "present" or "absent", text = body, main = boot, main_text = boot and host.read(boot), running = (now or host.root ~= "/" or not host.live) and "loaded" or "not loaded" }
    if now and now ~= listed then have.running = "changed outside ccm" end
    local head, tail = frame(want)
    have.rules = text and (str.starts(body, head) and str.ends(body, tail) and body:sub(#head + 1, #body - #tail - 1) or "in other lines") or left and "loaded, but not saved" or nil
    if want.rules and body == rendered(want) then have.rules = want.rules end
    if want.ensure == "absent" or not want.rules then return have end
    if not boot then error("/etc/nftables.conf does not exist (install the package nftables)", 0) end
    if host.root == "/" and host.live and (have.rules ~= want.rules or have.running ~= "loaded") and host.which "nft" then
      local _, code, err = host.query { "nft", "--check", "--file", "-", stdin = rendered(want), check = false }
      if code ~= 0 and not err:find("Operation not permitted", 1, true) then error("nft rejected the rules:\n" .. err, 0) end
    end
    return have
  end,

  decide = function(want, have, compare)
    local d = compare()
    if want.ensure == "present" and have.text ~= rendered(want) then d.text = { path = file(want), have = have.text, want = rendered(want) } end
    if want.ensure == "absent" or have.ensure == "absent" then return d end
    if #d.diff == 0 and have.running ~= "loaded" then d.diff = { { "rules", have.running, "loaded" } } end
    if #d.diff == 0 and not have.main_text:find(include, 1, true) then d.diff = { { "rules", "not in " .. have.main, "read at boot" } } end
    if #d.diff > 0 then d.actions = { { "update", "replaced the rules" } } end
    return d
  end,

  leaves = function(want, have)
    if want.ensure == "absent" then return { { path = file(want), kind = "absent" } }, "commands" end
    local list = { { path = file(want), kind = "file" } }
    if not have then return tbl.concat(list, { { path = "/etc/nftables.conf" }, { path = "/etc/sysconfig/nftables.conf" } }), "commands" end
    if not have.main_text:find(include, 1, true) then list[2] = { path = have.main, kind = "file", content = lines.with(have.main_text, include) } end
    return list, "commands"
  end,
  programs = function(action, _, have, host) return host.root == "/" and host.live and (action ~= "remove" or have.running ~= "not loaded") and { "nft" } or {} end,
  recreate = require("std.recreate").firewall,
  perform = function(action, want, have, host)
    local running = host.root == "/" and host.live
    if action == "remove" then
      if have.running ~= "not loaded" and running then host.run { "nft", "delete", "table", want.family, want.name } end
      return host.remove(file(want))
    end
    if running then host.run { "nft", "--file", "-", stdin = rendered(want) } end -- else the rules at boot stay good
    host.mkdir "/etc/nftables.d"
    host.write(file(want), rendered(want) .. (running and "# listed as " .. listing(want, host) .. "\n" or ""))
    local text = host.read(have.main)
    if not text:find(include, 1, true) then host.write(have.main, lines.with(text, include)) end
  end,
}

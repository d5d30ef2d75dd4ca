-- firewall.lua PORT|absent|bad
local firewall = require "std.firewall"
if arg[1] == "absent" then
  firewall { "web", ensure = "absent" }
elseif arg[1] == "bad" then
  firewall { "web", rules = "chain a { tcp dport nonsense accept\n}" }
else
  firewall { "web", rules = [[
    set ours { type ipv4_addr; flags timeout; }
    chain input {
      type filter hook input priority filter; policy accept;
      ct state established,related accept
      tcp dport { 22, ]] .. arg[1] .. [[ } counter accept comment "two
lines }"
    }]] }
end

local sysctl = require "std.sysctl"
sysctl { "net.ipv4.ip_forward", value = "1" }
sysctl { "net/ipv4/conf/lo/rp_filter", value = "2" } -- as sysctl.d(5) has it for names with dots
sysctl { "net.ipv4.tcp_rmem", value = "4096 131072 6291456" }
sysctl { "vm.swappiness", value = "11" } -- belongs to the whole machine
sysctl { "net.ipv4.no_such_setting", value = "1" }

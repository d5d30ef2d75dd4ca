-- Jobs of cron in the state arg[1]: one, two or gone.
local cron = require "std.cron"
local state = arg[1]
local ensure = state == "gone" and "absent" or "present"
local second = state == "two"

-- Cron runs it when it starts.
cron {
  "it_boot",
  command = [[echo "]] .. state .. [[ $GREETING $(id -un)$SPACED 50\%" > /run/it/boot]],
  schedule = "@reboot",
  user = second and "nobody" or "daemon",
  environment = { GREETING = second and "good bye" or "hello there", MAILTO = "", SPACED = second and " \"two\"" or " one" },
  ensure = ensure,
}
cron {
  "it-night",
  command = "/bin/true",
  schedule = second and "*/5 1-4,22 1,15 jan-mar mon-fri" or "30 3 * * 7",
  ensure = ensure,
}

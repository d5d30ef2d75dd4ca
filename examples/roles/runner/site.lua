-- A self-hosted runner of GitHub Actions: its own user, the program, a service, and a timer that cleans
-- up. The settings are in site.yaml. Without a token the runner is installed, but neither registered nor
-- started: get one on the page of the repository, write it into the file that the settings name, run again.
local user, unit, timer = require "std.user", require "std.unit", require "std.timer"
local want = data.load("site.yaml")
file.defaults { owner = "root", group = "root", mode = "0644" }
local arch = ({ x86_64 = "x64", aarch64 = "arm64" })[facts.kernel.machine] or ccm.fail("no runner for " .. facts.kernel.machine)
local name = ("actions-runner-linux-%s-%s.tar.gz"):format(arch, want.version)

-- what the program needs; its own installdependencies.sh has the same list
package { facts.os.family == "debian" and { "git", "libicu-dev", "zlib1g" } or { "git", "libicu", "zlib" } }

local account = user { want.user, home = want.home, manage_home = true, shell = "/bin/bash" }
local program = archive {
  "/var/cache/" .. name,
  url = ("%s/v%s/%s"):format(want.url, want.version, name),
  checksum = ccm.optional(want.checksums[arch]),
  owner = "root", group = "root",
  extract_parent = want.home,
  creates = want.home .. "/bin/Runner.Listener",
  cleanup = true,
  require = account,
}
local own = exec {
  "own " .. want.home,
  command = { "chown", "-R", want.user .. ":" .. want.user, want.home },
  refreshonly = true,
  subscribe = program,
}

local service_unit = unit {
  "actions-runner.service",
  content = str.join({
    "[Unit]", "Description=Runner of GitHub Actions", "After=network-online.target", "Wants=network-online.target",
    "ConditionPathExists=" .. want.home .. "/.runner", "",
    "[Service]", "User=" .. want.user, "WorkingDirectory=" .. want.home, "ExecStart=" .. want.home .. "/run.sh",
    "KillMode=process", "KillSignal=SIGTERM", "TimeoutStopSec=5min", "Restart=on-failure", "",
    "[Install]", "WantedBy=multi-user.target", "",
  }, "\n"),
  require = own,
}
if want.token_file then
  local registered = exec {
    "register the runner",
    command = { want.home .. "/config.sh", "--unattended", "--replace", "--url", want.repository, "--labels", str.join(want.labels, ",") },
    environment = { ACTIONS_RUNNER_INPUT_TOKEN = secret.file(want.token_file) },
    user = want.user,
    cwd = want.home,
    creates = want.home .. "/.runner",
    require = own,
  }
  service { "actions-runner", enable = true, require = registered, subscribe = service_unit }
end

timer {
  "actions-runner-cleanup",
  command = ("/usr/bin/find %s/_work -mindepth 1 -maxdepth 1 -mtime +%d -exec rm -rf {} +"):format(want.home, want.keep_days),
  schedule = "daily",
  user = want.user,
  require = account,
}

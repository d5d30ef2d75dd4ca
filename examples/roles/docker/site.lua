-- Docker's own packages from Docker's repository, on Debian and RHEL and their relatives,
-- the options of its daemon and who may use it. The settings are in site.yaml.
local apt_repo, yum_repo, group = require "std.apt_repo", require "std.yum_repo", require "std.group"
local want = data.load("site.yaml")
file.defaults { owner = "root", group = "root", mode = "0644" }
local present = want.ensure ~= "absent"

package { want.others, ensure = "absent" }

local docker = package { want.packages, ensure = want.ensure }

if want.add_repo and facts.os.family == "debian" then
  local url = want.url .. "/" .. facts.os.id
  local key = file { "/etc/apt/keyrings/docker.asc", source = url .. "/gpg" }
  apt_repo {
    "docker",
    uris = { url },
    suites = { facts.os.codename },
    components = { want.channel },
    signed_by = "/etc/apt/keyrings/docker.asc",
    require = key,
    before = docker,
  }
elseif want.add_repo then
  yum_repo {
    "docker-ce",
    title = "Docker",
    baseurl = want.url .. "/centos/$releasever/$basearch/" .. want.channel,
    gpgkey = want.url .. "/centos/gpg",
    before = docker,
  }
end

local options = file {
  "/etc/docker/daemon.json",
  ensure = present and tbl.size(want.daemon) > 0 and "present" or "absent",
  content = json.encode(want.daemon, { indent = 2 }) .. "\n",
  parents = true,
  validate = "dockerd --validate --config-file %s",
  require = docker,
}

if present and want.service then
  service { "docker", enable = true, subscribe = { docker, options } }
end
group { "docker", members = want.users, require = docker }

-- A repository of dnf with a key, and what is in it: yum.lua present|absent
local yum_repo, package_key = require "std.yum_repo", require "std.package_key"
local key = package_key { "test", key = fs.read "test.asc", ensure = arg[1] }
yum_repo { "extra", baseurl = "file:///srv/extra", gpgcheck = false, ensure = arg[1], require = key }
if arg[1] == "present" then package { "ccm-demo-rpm", ensure = "3.0" } end

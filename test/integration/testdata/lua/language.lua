-- Packages of languages, without a network: language.lua VERSION present|absent
local language_package = require "std.language_package"
local version, ensure = arg[1], arg[2]
language_package { "Demo.Pkg", manager = "pip", path = "/opt/venv", version = version, ensure = ensure,
  options = { "--no-index", "--find-links", "/root" } }
language_package { "demo-npm", manager = "npm", path = "/opt/project", version = version, ensure = ensure,
  source = "/root/demo-npm-" .. version .. ".tgz", options = { "--offline" } }
language_package { "demo-gem", manager = "gem", path = "/opt/gems", version = version, ensure = ensure,
  source = "/root/demo-gem-" .. version .. ".gem", options = { "--local" } }

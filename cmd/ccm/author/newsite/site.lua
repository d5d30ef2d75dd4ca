-- What this machine is to be.
--   ccm plan site.lua   shows what would be done
--   ccm run site.lua    does it
local motd = require "motd"

motd.message("This machine is managed by ccm.")

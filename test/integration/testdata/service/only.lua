-- A service that already exists: only.lua NAME [ENSURE [ENABLE]]
local name, ensure, enable = arg[1], arg[2], arg[3]
service { name, ensure = ensure or "running", enable = enable and enable == "true" }

-- A site of three modules that uses all Lua types that need a system. The
-- argument says in which state.
local state = arg[1]
require("accounts")(state)
require("app")(state)
require("system")(state)

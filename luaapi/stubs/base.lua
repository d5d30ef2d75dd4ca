---What a constructor returns: it stands for the resource in require, before,
---notify and subscribe.
---@class (exact) ccm.Handle
---@field type string The type of the resource.
---@field name string Its name.
---@field id string Both, as type#name.

---The environment of ccm: a string, or nil for what is not set.
---@type table<string, string?>
env = {}

---The arguments of the script; arg[0] is its name.
---@type table<integer, string>
arg = {}

---Returns the fact at a path such as "os.family", or the default if there is none.
---@param path string
---@param default? any
---@return any
function fact(path, default) end

---What the program offers.
---@class ccm.lib.ccm
---@field version string The version of ccm.
---@field noop boolean Whether this run only says what would be done.
ccm = {}

---Prints a warning with the place of the call.
---@param ... any
function ccm.warn(...) end

---Ends the evaluation with an error that pcall does not stop.
---@param message string
function ccm.fail(message) end

---The handle that a constructor returns. It refers to the resource in require, before,
---notify and subscribe.
---@class (exact) ccm.Handle
---@field type string The type of the resource.
---@field name string Its name.
---@field id string Both, as type#name.
---@field changed boolean Whether it was changed in this run. This and what follows is known only inside of ccm.lazy and ccm.after.
---@field failed boolean Whether it failed.
---@field outcome "stable"|"changed"|"pending"|"unknown"|"skipped"|"failed" Its outcome.
---@field stdout string? The standard output of the command of an exec, without trailing line breaks; nil if it did not run.
---@field stderr string? Its standard error.
---@field exit_code integer? Its exit status.
---@field set fun(self: ccm.Handle, properties: table): ccm.Handle Overrides properties of the declaration.

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

---The functions of ccm.
---@class ccm.lib.ccm
---@field version string The version of ccm.
---@field noop boolean Whether this run only shows what would change.
ccm = {}

---Prints a warning with the place of the call.
---@param ... any
function ccm.warn(...) end

---Returns its argument. As the value of a property it marks the property as optional:
---nil leaves it out, without a warning.
---@generic T
---@param value? T
---@return T?
function ccm.optional(value) end

---Ends the evaluation with an error that pcall does not stop.
---@param message string
function ccm.fail(message) end

---A value of a property that is known only after earlier resources were applied. The
---function is called right before its resource, and returns the value.
---@param value fun(): any
---@return any
function ccm.lazy(value) end

---Sets properties that every type has for all declarations from here to the end of the file.
---Properties of a declaration, or of the defaults of its type, take precedence; tags are added.
---@param properties table
function ccm.defaults(properties) end

---Collects the resources that are declared, as a list of handles. Its set changes these, and
---those that are declared later and match.
---@param filter? ccm.Filter
---@return ccm.Collection
function ccm.resources(filter) end

---@class (exact) ccm.Filter
---@field type? string A type, or a pattern of types.
---@field name? string A name, or a pattern as --target has it.
---@field tags? string|string[] One of these tags.

---@class ccm.Collection
---@field [integer] ccm.Handle
local Collection = {}

---Overrides properties of the declarations.
---@param properties table
---@return ccm.Collection
function Collection:set(properties) end

---Calls a function in a run, right after a resource was applied. The function cannot
---declare resources.
---@param handle ccm.Handle
---@param fn fun(handle: ccm.Handle)
function ccm.after(handle, fn) end

---@class (exact) ccm.TypeProperty
---@field type? "string"|"integer"|"number"|"boolean"|"path"|"mode"|"list"|"map"|"table"|"any" Left out, it is string.
---@field name? boolean Whether the property names the resource.
---@field required? boolean
---@field default? any
---@field enum? string[] The only values allowed.
---@field doc? string
---@field example? string
---@field secret? boolean
---@field alias? string|string[]
---@field items? string|ccm.TypeProperty The type of the items of a list or map.
---@field properties? table<string, ccm.TypeProperty> The properties of a table.
---@field set? boolean Whether the order of a list does not matter.
---@field relative? boolean Whether a path may be relative to the script.
---@field kind? "path"|"owner"|"group"|"package"|"service"|"content"|"command"|"url" What the values are, for forms.

---@class (exact) ccm.TypeDefinition
---@field name string
---@field doc string
---@field properties table<string, ccm.TypeProperty>
---@field status? fun(want: table, host: table): table Reads the state. It may not change anything.
---@field decide? fun(want: table, have: table): any Left out, the properties are compared by name.
---@field perform? fun(action: string, want: table, have: table, host: table) Applies an action.
---@field refresh? fun(want: table, have: table, host: table) Acts on a change elsewhere.
---@field validate? fun(want: table): any, any Returns what is wrong, or a property and what is wrong with it.
---@field edit? fun(want: table, text: string): string, table? Returns the new text of the file at want.path.
---@field phrases? table<string, string> The phrase of each action in reports.
---@field commands? string[] The names of the programs that it runs.

---Defines a type of resource and returns its constructor.
---@param definition ccm.TypeDefinition
---@return fun(resource: table): ccm.Handle
function ccm.type(definition) end

---@meta ccm

-- Written by ccm types from the declarations of the types. Changes are lost.

---What a constructor returns: it stands for the resource in require, before,
---notify and subscribe.
---@class (exact) ccm.Handle
---@field type string The type of the resource.
---@field name string Its name.
---@field id string Both, as type#name.
---@field changed boolean Whether it was changed in this run. This and what follows is known only inside of ccm.lazy and ccm.after.
---@field failed boolean Whether it failed.
---@field outcome "stable"|"changed"|"pending"|"unknown"|"skipped"|"failed" What became of it.
---@field stdout string? What the command of an exec said, without the line breaks at its end; nil if it did not run.
---@field stderr string? What it said on the standard error.
---@field exit_code integer? How it ended.
---@field set fun(self: ccm.Handle, properties: table): ccm.Handle Gives the resource other properties than it was declared with.

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

---Returns its argument. As the value of a property it says that the property may be left
---out: that it is nil is no mistake.
---@generic T
---@param value? T
---@return T?
function ccm.optional(value) end

---Ends the evaluation with an error that pcall does not stop.
---@param message string
function ccm.fail(message) end

---Stands for the value of a property that is known only when earlier resources were
---dealt with: the function is called right before its resource and returns it.
---@param value fun(): any
---@return any
function ccm.lazy(value) end

---Sets properties that every type has for all declarations from here to the end of the file.
---What a declaration or the defaults of its type say wins; tags are added.
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

---Gives the resources other properties than they were declared with.
---@param properties table
---@return ccm.Collection
function Collection:set(properties) end

---Calls a function in a run, right after a resource was dealt with. It cannot
---declare anything.
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
---@field items? string|ccm.TypeProperty What a list or map holds.
---@field properties? table<string, ccm.TypeProperty> The properties of a table.
---@field set? boolean Whether the order of a list does not matter.
---@field relative? boolean Whether a path may be relative to the script.
---@field kind? "path"|"owner"|"group"|"package"|"service"|"content"|"command"|"url" What the values are, for forms.

---@class (exact) ccm.TypeDefinition
---@field name string
---@field doc string
---@field properties table<string, ccm.TypeProperty>
---@field status? fun(want: table, host: table): table Looks what is there. It may not change anything.
---@field decide? fun(want: table, have: table): any Left out, the properties are compared by name.
---@field perform? fun(action: string, want: table, have: table, host: table) Makes it so.
---@field refresh? fun(want: table, have: table, host: table) Acts on a change elsewhere.
---@field validate? fun(want: table): any, any Returns what is wrong, or a property and what is wrong with it.
---@field edit? fun(want: table, text: string): string, table? Returns the new text of the file at want.path.
---@field phrases? table<string, string> What reports say of each action.
---@field commands? string[] The names of the programs that it runs.

---Defines a type of resource and returns its constructor.
---@param definition ccm.TypeDefinition
---@return fun(resource: table): ccm.Handle
function ccm.type(definition) end

---@class (exact) ccm.Facts.cpu.info
---@field bogo number clock
---@field mhz number clock

---@class (exact) ccm.Facts.cpu
---@field info ccm.Facts.cpu.info[]

---@class (exact) ccm.Facts.net.interfaces.NAME
---@field mtu integer the largest packet

---@class (exact) ccm.Facts.net.interfaces
---@field [string] ccm.Facts.net.interfaces.NAME

---@class (exact) ccm.Facts.net
---@field interfaces ccm.Facts.net.interfaces

---@class (exact) ccm.Facts.odd name
---@field empty table
---@field mixed any[]
---@field x number

---@class (exact) ccm.Facts.os
---@field family? string the family: debian, ...
---@field zones string[]

---What is so about the machine. A branch is gathered when it is first asked for.
---@class (exact) ccm.Facts
---@field cpu ccm.Facts.cpu
---@field net ccm.Facts.net
---@field ["odd name"] ccm.Facts.odd name
---@field os ccm.Facts.os
---@field role string

---@type ccm.Facts
facts = nil

---@class (exact) ccm.HealthCheck
---@field command? string
---@field goss_rules? table<string, any>
---@field format? "nagios"|"goss"
---@field name? string
---@field tries? integer Default: 1.
---@field try_sleep? string Default: 1s.
---@field timeout? string Default: 10s.
---@field warn_fails? boolean

---@class (exact) ccm.Registration
---@field cluster string
---@field service string
---@field protocol string
---@field address string
---@field port? integer
---@field priority? integer Default: 100.
---@field ttl? string
---@field annotations? table<string, string>

---@class (exact) ccm.Common
---@field alias? string
---@field provider? string
---@field require? string|ccm.Handle|(string|ccm.Handle)[]
---@field before? string|ccm.Handle|(string|ccm.Handle)[]
---@field notify? string|ccm.Handle|(string|ccm.Handle)[]
---@field subscribe? string|ccm.Handle|(string|ccm.Handle)[]
---@field tags? string|string[]
---@field health_checks? ccm.HealthCheck[]
---@field register_when_stable? ccm.Registration[]
---@field timeout? string
---@field tries? integer
---@field try_sleep? string
---@field ignore_failure? boolean
---@field with_data? boolean
---@field backup? boolean

---@class (exact) ccm.part
---@field path string
---@field mode? integer

---The properties of a thing.
---@class (exact) ccm.Thing.Props: ccm.Common
---@field ensure? "present"|"absent" Default: present.
---@field target string
---@field size? integer
---@field share? number
---@field deep? boolean
---@field recursive? boolean The same as deep.
---@field tags? string|string[]
---@field labels? table<string, string>
---@field data? table<string, any>
---@field value? any
---@field after? string|ccm.Handle|(string|ccm.Handle)[]
---@field parts? ccm.part[]

---The properties of a thing and its name, or several names.
---@class (exact) ccm.Thing.Table: ccm.Thing.Props
---@field [integer] string
---@field name? string

---What declarations of a thing may leave out.
---@class (exact) ccm.Thing.Defaults: ccm.Common
---@field ensure? "present"|"absent" Default: present.
---@field target? string
---@field size? integer
---@field share? number
---@field deep? boolean
---@field recursive? boolean The same as deep.
---@field tags? string|string[]
---@field labels? table<string, string>
---@field data? table<string, any>
---@field value? any
---@field after? string|ccm.Handle|(string|ccm.Handle)[]
---@field parts? ccm.part[]

---The handle of a thing, whose properties may follow in a second call.
---@class ccm.Thing.Handle: ccm.Handle
---@overload fun(properties: ccm.Thing.Props): ccm.Handle

---
---```lua
---thing { "lamp", ... }
---thing "lamp" { ... }
---thing("lamp", { ... })
---```
---@class ccm.Thing.Constructor
---@overload fun(resource: ccm.Thing.Table): ccm.Handle
---@overload fun(name: string|string[]): ccm.Thing.Handle
---@overload fun(name: string|string[], properties: ccm.Thing.Props): ccm.Handle
---@field defaults fun(properties: ccm.Thing.Defaults) Sets what the following declarations in this file may leave out.
thing = {}

---Text.
---@class ccm.lib.str
str = {}

---Cuts.
---
---```lua
---str.cut("a") --> 1
---```
---@param text string
---@param end_ string
---@param ... integer
---@return string before
---@return string|nil after
function str.cut(text, end_, ...) end

---Does nothing.
function str.none() end

---Shows.
---@class ccm.lib.inspect
---@overload fun(value: any, options?: { depth?: integer }): string
inspect = {}

---A key.
---@type userdata
inspect.KEY = nil

---Finds.
---@param path string
---@return any
function lookup(path) end

---The modules that ship with ccm: std.line is what require "std.line" returns, loaded on first use.
---@class ccm.lib.std
---@field thing ccm.Thing.Constructor
---@field str ccm.lib.str
---@field inspect ccm.lib.inspect
std = {}


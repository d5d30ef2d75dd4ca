---@meta

-- The words of spec files, which ccm test runs. Written by ccm types. Changes are lost.

---@class (exact) ccm.spec.BlockOptions
---@field system? boolean The tests are about a real machine: ccm test --system runs them, and only them.

---Names what the tests in body are about.
---@param name string Words that begin with # are tags.
---@param body fun()
---@overload fun(name: string, options: ccm.spec.BlockOptions, body: fun())
function describe(name, body) end

---Is describe.
---@param name string
---@param body fun()
---@overload fun(name: string, options: ccm.spec.BlockOptions, body: fun())
function context(name, body) end

---Is describe, and what body does to spies and stubs is undone after it.
---@param name string
---@param body fun()
function insulate(name, body) end

---A test. It fails if an assertion in it fails or if it raises an error.
---@param name string
---@param body fun()
---@overload fun(name: string, options: ccm.spec.BlockOptions, body: fun())
function it(name, body) end

---Is it.
---@param name string
---@param body fun()
function test(name, body) end

---A test that is not written yet.
---@param name string
---@param body? fun()
function pending(name, body) end

---Runs before each test of the block.
---@param body fun()
function before_each(body) end

---Runs after each test of the block.
---@param body fun()
function after_each(body) end

---Runs once, before the first test of the block.
---@param body fun()
function setup(body) end

---Runs once, after the last test of the block.
---@param body fun()
function teardown(body) end

---@class (exact) ccm.spec.Options
---@field facts? table All the facts that the script sees.
---@field data? table What data reads.
---@field args? string[] The arguments of the script.
---@field env? table<string, string> What env reads.
---@field files? table<string, string> Files that are there already, by path.
---@field packages? table<string, string|boolean> Packages that are installed already, with their version.
---@field services? table<string, string> Services that are there already, each "running", "stopped" or "masked".
---@field commands? table<string, string|integer|table> What commands do, by their text.

---@class (exact) ccm.spec.Resource
---@field id string
---@field type string
---@field name string
---@field position string
---@field properties table<string, any>

---@class (exact) ccm.spec.Result
---@field changed string[] The resources that were changed.
---@field stable string[] Those that were up to date already.
---@field outcomes table<string, string> The outcome of each resource.

---@class ccm.spec.Catalog
local Catalog = {}

---Returns a resource, nil if there is none of that name.
---@param id string|ccm.Handle
---@return ccm.spec.Resource?
function Catalog:resource(id) end

---Returns the names of all resources in the order in which they are converged.
---@return string[]
function Catalog:resources() end

---Converges an empty directory with package and service managers of its own, then
---looks again: a resource that fails, or that would be changed again, is an error.
---@return ccm.spec.Result
function Catalog:converge() end

---Returns the content of a file that the run has made, nil if it does not exist.
---@param path string
---@return string?
function Catalog:read(path) end

---Returns the commands that converging would have run, in order.
---@return string[]
function Catalog:commands() end

---Evaluates a script or manifest and returns its catalog. The file is looked for in
---the directory of the spec and in those above it.
---@param file string
---@param options? ccm.spec.Options
---@return ccm.spec.Catalog
function catalog(file, options) end

---@class ccm.spec.Machine
local Machine = {}

---Runs a command by sh as root.
---@param text string
---@return { stdout: string, stderr: string, code: integer }
function Machine:command(text) end

---Returns the state of a TCP port.
---@param number integer
---@return { listening: boolean, addresses: string[] }
function Machine:port(number) end

---Returns the state of a service of systemd.
---@param name string
---@return { exists: boolean, running: boolean, enabled: boolean }
function Machine:service(name) end

---Returns the state of a file; without one only exists, which is false. Content is nil above 1 MiB.
---@param path string
---@return { exists: boolean, type: string, mode: string, owner: string, group: string, size: integer, target?: string, content?: string }
function Machine:file(path) end

---Requests a URL from inside of the machine. Redirects are not followed, certificates not checked.
---@param url string
---@return { status: integer, body: string, headers: table<string, string> }
function Machine:http(url) end

---The machine of tests with system = true.
---@type ccm.spec.Machine
machine = {}

---@class (exact) ccm.spec.Suite
---@field starts table<string, ccm.spec.Options> The states of the machine before, by name.
---@field wants table<string, table> The desired states, by name: properties, as a script writes them.
---@field fails? table<string, string> Of "start/want", a part of the error that it must end in.
---@field phrases? table<string, string[]> Of "start/want", the phrases of a plan.

---Tests a type as every provider is tested: each desired state is tried from each
---start, reads change nothing, and after the actions nothing is left to do.
---@param type string The name of the type. Its module must have been loaded.
---@param suite ccm.spec.Suite
function suite(type, suite) end

---@class luassert
---@overload fun(v: any, message?: any, ...: any): any
---@field is luassert
---@field are luassert
---@field was luassert
---@field has luassert
---@field have luassert
---@field does luassert
---@field no luassert
---@field is_not luassert
---@field are_not luassert
---@field has_no luassert
---@field equal fun(expected: any, got: any, message?: string)
---@field equals fun(expected: any, got: any, message?: string)
---@field same fun(expected: any, got: any, message?: string)
---@field near fun(expected: number, got: number, tolerance: number)
---@field matches fun(pattern: string, text: string)
---@field is_true fun(v: any, message?: string)
---@field is_false fun(v: any, message?: string)
---@field is_nil fun(v: any, message?: string)
---@field is_not_nil fun(v: any, message?: string)
---@field truthy fun(v: any, message?: string)
---@field falsy fun(v: any, message?: string)
---@field is_truthy fun(v: any, message?: string)
---@field is_falsy fun(v: any, message?: string)
---@field is_string fun(v: any)
---@field is_number fun(v: any)
---@field is_boolean fun(v: any)
---@field is_table fun(v: any)
---@field is_function fun(v: any)
---@field errors fun(body: function, message?: any)
---@field error fun(body: function, message?: any)
---@field has_error fun(body: function, message?: any)
---@field has_no_errors fun(body: function)
---@field error_matches fun(body: function, pattern: string)
---@field spy fun(s: table): table
---@field stub fun(s: table): table
---@field resource fun(cat: ccm.spec.Catalog, id: string|ccm.Handle, properties?: table) The resource is there, with these properties.
---@field no_resource fun(cat: ccm.spec.Catalog, id: string|ccm.Handle) No such resource is there.
---@field order fun(cat: ccm.spec.Catalog, ...: string|ccm.Handle) The resources are converged in this order.
---@field stable fun(cat: ccm.spec.Catalog) The catalog converges, and a second run changes nothing.
assert = {}

---Functions that note how they are called.
---@class ccm.spec.spy
---@overload fun(fn: function): table
spy = {}

---@param fn? function
---@return table
function spy.new(fn) end

---Replaces a function of a table by one that notes its calls and calls it.
---@param t table
---@param name string
---@return table
function spy.on(t, name) end

---Replaces a function of a table by one that notes its calls and does nothing.
---@param t table
---@param name string
---@return table
function stub(t, name) end

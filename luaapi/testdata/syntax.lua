file { "/a",
  content = "x"
  mode = "0644", --> 3: expected a comma or } in the table that begins on line 1, got mode
}
---
file { "/a", mode: "0644" } --> 18: expected = after the name, got : (write a table as { name = value })
---
file { "/a", end = "x" } --> 14: expected a name, got end (end is a reserved word of Lua: write ["end"] = ...)
---
file { "/a", "mode" = "0644" } --> 21: expected a comma or } in the table that begins on line 10, got = (write ["mode"] = ...)
---
file { "/a", content = "x" --> expected a comma or } in the table that begins on line 12, got the end of the text
---
file { "/a", content = "x } --> 24: expected a quote to end the string that begins here
---
if facts.os.family = "debian" then end --> 20: expected then after the condition, got = (use == to compare)
---
if x then --> expected end to close the if that begins on line 18, got the end of the text
---
if x then else if y then end --> expected end to close the if that begins on line 20, got the end of the text
---
function f() --> expected end to close the function that begins on line 22, got the end of the text
---
for i = 1 do end --> 11: expected a comma and the last value of the loop, got do
---
for k, v pairs(t) do end --> 10: expected = or in after the loop variable, got pairs
---
while true end --> 12: expected do after the condition of while, got end
---
repeat x() --> expected until to close the repeat that begins on line 30, got the end of the text
---
local = 5 --> 7: expected a name after local, got =
---
local function (x) end --> 16: expected the name of the function, got (
---
x += 1 --> 3: expected = or a call after the name, got + (write x = x + ..., Lua does not have +=)
---
if a != b then end --> 6: unexpected "!" (use ~= for not equal, and not for negation)
---
if a && b then end --> 6: unexpected "&" (use and)
---
local s = “x” --> 11: unexpected "“" (use plain quotes for strings: "...")
---
x --> expected = or a call after the name, got the end of the text
---
file "/a" 5 --> 11: expected a statement, got the number 5
---
file "/a" } --> 11: expected a statement, got }
---
return 1 print(2) --> 10: expected the end of the block after return, got print (write do return end to return early)
---
print("x" --> expected a comma or a parenthesis to close the arguments that begin on line 52, got the end of the text
---
local x = 5 + --> expected a value, got the end of the text
---
local x = (1 + 2 --> expected a parenthesis to close the one on line 56, got the end of the text
---
local x = t[1 --> expected ] after the index, got the end of the text
---
x. = 5 --> 4: expected a name after the dot, got =
---
x:y = 5 --> 5: expected the arguments of the call, got =
---
function f(a, ) end --> 15: expected the name of a parameter, got )
---
function f(a b) end --> 14: expected a comma or a parenthesis after the parameters, got b
---
local end = 5 --> 7: expected a name after local, got end (end is a reserved word of Lua)
---
local x = 0x --> 11: expected digits after 0x
---
local x = nil.y --> 14: expected a statement, got .
---
goto --> expected the name of a label, got the end of the text
---
::x: --> 4: expected :: after the name of the label, got :
---
local x = 5 // 2 --> 14: expected a value, got / (start a comment with --)
---
goto nowhere --> 6: no such label "nowhere"
---
::x:: ::x:: --> 3: duplicate label ::x::, first defined on line 82
---
break --> unexpected break outside of a loop
---
local function f() return ... end --> 27: unexpected ... in a function without ... in its parameters
---
goto skip --> 6: goto skip cannot jump into the scope of the local x
local x = 5
::skip::
print(x)
---
local n = 1e --> 11: malformed number near "1e"
---
local n = 0x1e + 1e1 + #"1e" + 2E+ --> 32: malformed number near "2E+"
---
local s = "\\256 \255" .. "a\256" --> 29: the escape \256 is larger than 255 (a byte has at most three decimal digits)

-- Errors: each leaves through longjmp, over frames of C and of Lua.
local caught = 0

local function deep(n)
    if n == 0 then error({code = 42}) end
    return 1 + deep(n - 1)
end
for i = 1, 10 do
    local ok, e = pcall(deep, i)
    assert(not ok and e.code == 42)
    caught = caught + 1
end

-- Through C: sort calls back, the comparator throws.
for _ = 1, 5 do
    local ok, message = pcall(table.sort, {3, 1, 2, 5, 4}, function() error("in the comparator", 0) end)
    assert(not ok and message == "in the comparator")
    caught = caught + 1
end

-- Nested, with handlers that run before the stack is unwound.
local function outer()
    local ok = pcall(error, "inner")
    assert(not ok)
    error("outer")
end
local ok, trace = xpcall(outer, function(m) return debug.traceback(m, 2) end)
assert(not ok and trace:find("outer", 1, true) and trace:find("stack traceback", 1, true))
caught = caught + 2

-- The interpreter's own errors, and values closed on the way out.
local closed = 0
local ok2 = pcall(function()
    local guard <close> = setmetatable({}, {__close = function() closed = closed + 1 end})
    local t = nil
    return t.field
end)
assert(not ok2 and closed == 1)
assert(not load("this is not Lua"))
assert(select("#", pcall(error)) == 2)
caught = caught + 1
return caught .. " errors caught"

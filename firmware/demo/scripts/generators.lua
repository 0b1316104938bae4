-- Coroutines: a pipeline of three, and an error that crosses one.
local function numbers(limit)
    return coroutine.wrap(function() for i = 1, limit do coroutine.yield(i) end end)
end
local function squares(source)
    return coroutine.wrap(function() for n in source do coroutine.yield(n * n) end end)
end
local function odd(source)
    return coroutine.wrap(function()
        for n in source do if n % 2 == 1 then coroutine.yield(n) end end
    end)
end

local sum = 0
for n in odd(squares(numbers(30))) do sum = sum + n end
assert(sum == 4495, sum)

local failing = coroutine.create(function()
    coroutine.yield("once")
    error("from inside")
end)
local ok, value = coroutine.resume(failing)
assert(ok and value == "once")
ok, value = coroutine.resume(failing)
assert(not ok and tostring(value):find("from inside", 1, true))
assert(coroutine.status(failing) == "dead")

-- pcall inside a coroutine that yields across it.
local crossing = coroutine.wrap(function()
    local ok2, got = pcall(function() return coroutine.yield("asked") + 1 end)
    assert(ok2)
    return got
end)
assert(crossing() == "asked" and crossing(41) == 42)
return "sum of odd squares " .. sum

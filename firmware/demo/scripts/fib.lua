-- Plain recursion: calls from Lua to Lua stay inside luaV_execute.
local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
end

local function ackermann(m, n)
    if m == 0 then return n + 1 end
    if n == 0 then return ackermann(m - 1, 1) end
    return ackermann(m - 1, ackermann(m, n - 1))
end

assert(fib(15) == 610)
assert(ackermann(2, 6) == 15)
return string.format("fib(15) = %d, ackermann(2, 6) = %d", fib(15), ackermann(2, 6))

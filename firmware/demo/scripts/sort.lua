-- Sorting with a comparator written in Lua: a callback from C, for each comparison.
local values = {}
local seed = 12345
for i = 1, 120 do
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    values[i] = {key = seed % 1000, name = "item" .. i}
end
table.sort(values, function(a, b)
    if a.key ~= b.key then return a.key < b.key end
    return a.name < b.name
end)
for i = 2, #values do assert(values[i - 1].key <= values[i].key) end

local numbers = table.pack(table.unpack({5, 3, 9, 1, 7}))
table.sort(numbers)
table.insert(numbers, 3, 4)
assert(table.remove(numbers) == 9)
table.move(numbers, 1, 3, 4)
assert(table.concat(numbers, ",", 1, 6) == "1,3,4,1,3,4")
return string.format("%d values, smallest %d, greatest %d", #values, values[1].key,
                     values[#values].key)

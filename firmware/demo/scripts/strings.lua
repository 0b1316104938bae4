-- Text: patterns, replacement, formatting, building.
local text = "the quick brown fox jumps over the lazy dog"

local counts = {}
for word in text:gmatch("%a+") do
    counts[#word] = (counts[#word] or 0) + 1
end
assert(counts[3] == 4 and counts[4] == 2 and counts[5] == 3)

local capitals = text:gsub("(%a)(%a*)", function(first, rest) return first:upper() .. rest end)
assert(capitals:find("Brown Fox", 1, true) == 11)

local rows = {}
for i = 1, 12 do
    rows[#rows + 1] = string.format("%02d %5.2f %-6s %x %q", i, i / 3, ("ab"):rep(i % 3), i * 255,
                                    i % 2 == 0 and "even" or "odd")
end
local joined = table.concat(rows, "\n")
assert(#joined == 316, #joined)
assert(tonumber("0x1p4") == 16 and tonumber("  12.5e1 ") == 125 and tonumber("z", 36) == 35)
assert(utf8.char(228, 8364) == "\u{e4}\u{20ac}" and utf8.len("\u{e4}\u{20ac}") == 2)
return capitals

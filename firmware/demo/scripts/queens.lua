-- Search: all ways to place six queens.
local size = 6
local found = 0

local function safe(rows, row, column)
    for r = 1, row - 1 do
        local c = rows[r]
        if c == column or math.abs(c - column) == row - r then return false end
    end
    return true
end

local function place(rows, row)
    if row > size then
        found = found + 1
        return
    end
    for column = 1, size do
        if safe(rows, row, column) then
            rows[row] = column
            place(rows, row + 1)
        end
    end
end

place({}, 1)
assert(found == 4)
return found .. " ways"

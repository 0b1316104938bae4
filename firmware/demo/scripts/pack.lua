-- Binary data and integers.
local header = string.pack("<I4 i8 d s2 z", 0xdeadbeef, -5, 0.5, "payload", "end")
local magic, number, half, payload, last = string.unpack("<I4 i8 d s2 z", header)
assert(magic == 0xdeadbeef and number == -5 and half == 0.5 and payload == "payload" and last == "end")
assert(string.packsize("<i4 i8 d") == 20)

local function crc32(bytes)
    local crc = 0xffffffff
    for i = 1, #bytes do
        crc = crc ~ bytes:byte(i)
        for _ = 1, 8 do
            crc = (crc >> 1) ~ (0xedb88320 & -(crc & 1))
        end
    end
    return crc ~ 0xffffffff
end
assert(crc32("123456789") == 0xcbf43926)

local big = {}
for i = 1, 40 do big[i] = string.pack(">I2", i * 257) end
local all = table.concat(big)
assert(all:reverse():reverse() == all and #all == 80)
return string.format("crc32 = %08x", crc32(all))

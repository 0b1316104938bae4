-- A small JSON encoder and decoder, there and back.
local encode
local encoders = {
    ["nil"] = function() return "null" end,
    boolean = tostring,
    number = function(n)
        return math.type(n) == "integer" and tostring(n) or string.format("%.14g", n)
    end,
    string = function(s)
        return '"' .. s:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
    end,
    table = function(t)
        local parts = {}
        if #t > 0 then
            for i, v in ipairs(t) do parts[i] = encode(v) end
            return "[" .. table.concat(parts, ",") .. "]"
        end
        local keys = {}
        for k in pairs(t) do keys[#keys + 1] = k end
        table.sort(keys)
        for i, k in ipairs(keys) do parts[i] = encode(k) .. ":" .. encode(t[k]) end
        return "{" .. table.concat(parts, ",") .. "}"
    end,
}
function encode(value) return encoders[type(value)](value) end

local decode
local function skip(s, at) return s:match("^%s*()", at) end
local function decode_list(s, at, close, item)
    at = skip(s, at + 1)
    while s:sub(at, at) ~= close do
        at = skip(s, item(at))
        local c = s:sub(at, at)
        if c == "," then at = skip(s, at + 1) elseif c ~= close then error("expected " .. close, 0) end
    end
    return at + 1
end
function decode(s, at)
    at = skip(s, at)
    local c = s:sub(at, at)
    if c == "{" then
        local result = {}
        return result, decode_list(s, at, "}", function(p)
            local key, value
            key, p = decode(s, p)
            p = s:match("^%s*:()", p) or error("expected :", 0)
            value, p = decode(s, p)
            result[key] = value
            return p
        end)
    elseif c == "[" then
        local result = {}
        return result, decode_list(s, at, "]", function(p)
            local value
            value, p = decode(s, p)
            result[#result + 1] = value
            return p
        end)
    elseif c == '"' then
        local body, after = s:match('^"([^"]*)"()', at)
        if not body then error("open string", 0) end
        return body:gsub("\\u(%x%x%x%x)", function(h) return string.char(tonumber(h, 16)) end), after
    end
    local word, after = s:match("^([%w%+%-%.]+)()", at)
    if word == "true" then return true, after end
    if word == "false" then return false, after end
    if word == "null" then return nil, after end
    return tonumber(word) or error("not a value: " .. tostring(word), 0), after
end

local document = {
    name = "nopscope", version = 1, ratio = 0.125, live = true,
    text = 'with "quotes"\nand lines',
    list = {1, 2, 3, {deep = {4, 5, {6}}}},
}
local text = encode(document)
local again = encode((decode(text, 1)))
assert(text == again, text .. "\n" .. again)
local ok, message = pcall(decode, "[1, 2; 3]", 1)
assert(not ok and message == "expected ]", message)
return #text .. " bytes there and back"

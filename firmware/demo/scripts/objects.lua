-- Closures, metatables, inheritance, operators.
local Shape = {}
Shape.__index = Shape
function Shape.new(name) return setmetatable({name = name}, Shape) end
function Shape:area() return 0 end
function Shape:describe() return self.name .. ": " .. string.format("%.3f", self:area()) end

local Circle = setmetatable({}, {__index = Shape})
Circle.__index = Circle
function Circle.new(radius)
    local self = Shape.new("circle")
    self.radius = radius
    return setmetatable(self, Circle)
end
function Circle:area() return math.pi * self.radius ^ 2 end

local Vector = {}
Vector.__index = Vector
local function vector(x, y) return setmetatable({x = x, y = y}, Vector) end
Vector.__add = function(a, b) return vector(a.x + b.x, a.y + b.y) end
Vector.__mul = function(a, k) return vector(a.x * k, a.y * k) end
Vector.__eq = function(a, b) return a.x == b.x and a.y == b.y end
Vector.__lt = function(a, b) return a.x < b.x end
Vector.__len = function(a) return math.floor(math.sqrt(a.x ^ 2 + a.y ^ 2)) end
Vector.__tostring = function(a) return "(" .. a.x .. ", " .. a.y .. ")" end

local sum = vector(0, 0)
for i = 1, 20 do sum = sum + vector(i, -i) * 2 end
assert(sum == vector(420, -420) and vector(1, 0) < sum and #sum == 593)

local function counter()
    local n = 0
    return function() n = n + 1 return n end
end
local a, b = counter(), counter()
for _ = 1, 10 do a() end
assert(a() == 11 and b() == 1)

local readonly = setmetatable({}, {__newindex = function() error("read only", 2) end})
assert(not pcall(function() readonly.x = 1 end))
assert(math.sin(0) == 0 and math.abs(math.exp(1) - 2.718281828) < 1e-6 and math.fmod(7, 3) == 1)
return Circle.new(1.5):describe() .. ", " .. tostring(sum)

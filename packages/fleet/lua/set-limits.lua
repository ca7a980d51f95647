--[[
Sets limits for the whole pool; its members learn of them at their next sync.

KEYS  1 limits: a hash of version, text, until
ARGV  1 text  2 for how many ms it is kept if nobody syncs
Returns the version, as a string.
Expires the limits after ARGV 2; every sync puts that off as sync.lua says.
]]
local keptMs = tonumber(ARGV[2])

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local stored = redis.call("HMGET", KEYS[1], "version", "until")
local version, limitsUntil = tonumber(stored[1]), tonumber(stored[2])
if not (version and limitsUntil and now < limitsUntil) then version = 0 end
local function text(number)
  return string.format("%.0f", number)
end
redis.call("HSET", KEYS[1], "version", text(version + 1), "text", ARGV[1], "until", text(now + keptMs))
redis.call("PEXPIRE", KEYS[1], text(keptMs))
return text(version + 1)

--[[
Sets limits for the whole pool; its members learn of them at their next sync.

KEYS  1 limits: a hash of version, text, until
ARGV  1 text  2 for how many ms they are kept if no member syncs
Returns the version, as a string. It is at least the server's time, and so higher than any that members
remember from before the server lost its data.
Expires the limits after ARGV 2; every sync puts that off as sync.lua says.
]]
local keptMs = tonumber(ARGV[2])
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number)
  return string.format("%.0f", number)
end

local stored = redis.call("HMGET", KEYS[1], "version", "until")
local version, keptUntil = tonumber(stored[1]), tonumber(stored[2])
if not (version and keptUntil and now < keptUntil) then version = 0 end
version = math.max(version + 1, now)
redis.call("HSET", KEYS[1], "version", text(version), "text", ARGV[1], "until", text(now + keptMs))
redis.call("PEXPIRE", KEYS[1], text(keptMs))
return text(version)

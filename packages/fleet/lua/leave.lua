--[[
A member goes: gives its place back, unless another incarnation has it, and leaves the level.

KEYS  1 members  2 level, both as sync.lua has them
ARGV  1 id  2 nonce  3 level, may be ""  4 how it leaves: "redeploy" or "pause"  5 resume TTL ms
Returns "left", or "other" if another incarnation has the place.
Expires the level after the resume TTL; the members as the last sync has said.
]]
local POOL = "@"
local NONCE_AT = 57
local resumeTtlMs = tonumber(ARGV[5])

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function text(number)
  return string.format("%.0f", number)
end

local pool = redis.call("HGET", KEYS[1], POOL)
local synced, kept = string.match(pool or "", "^%d+ (%d+) (%d+)$")
if synced and now - synced <= tonumber(kept) then
  local entry = redis.call("HGET", KEYS[1], ARGV[1])
  if entry and string.sub(entry, NONCE_AT) ~= ARGV[2] then return "other" end
  redis.call("HDEL", KEYS[1], ARGV[1])
end

local saved = redis.call("HMGET", KEYS[2], "level", "at")
local savedLevel, savedAt = tonumber(saved[1]), tonumber(saved[2])
if not (savedLevel and savedAt and now - savedAt < resumeTtlMs) then savedLevel = nil end
local level = tonumber(ARGV[3]) or savedLevel
if level and resumeTtlMs > 0 then
  redis.call("HSET", KEYS[2], "level", text(level), "at", text(now), "left", ARGV[4])
  redis.call("PEXPIRE", KEYS[2], text(resumeTtlMs))
end
return "left"

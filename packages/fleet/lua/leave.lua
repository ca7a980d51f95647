--[[
A member leaves: gives its share back, unless another process has its id, and leaves the level. A
tombstone stays for one stale age. Begins with ledger.lua.

ARGV  1 id  2 nonce  3 level, may be ""  4 how it leaves: "redeploy" or "pause"  5 timing: "sync lease
      stale timeout"  6 resume TTL, in ms
Returns "left", or "other" if another process has the id.
Expires the members after 2 x stale, the level after the resume TTL.
]]
local id, nonce, resumeTtlMs = ARGV[1], ARGV[2], tonumber(ARGV[6])

-- A server that remembers nothing stays empty, so that the next joiner finds it so.
if redis.call("EXISTS", MEMBERS) == 1 then
  local mine = open(id, ARGV[5])
  if mine and mine.nonce ~= nonce then
    save()
    return "other"
  end
  if mine and mine.sequence ~= LEFT then
    promise(mine, 0, 0, 0, 0)
    wish(mine, 0, 0)
    mine.sequence, mine.seenAt = LEFT, pool.now
    resize(-1)
    redis.call("ZREM", RANKS, id)
    write(id, mine)
  end
  save()
end

local level = tonumber(ARGV[3]) or savedLevel()
if level and resumeTtlMs > 0 then saveLevel(level, ARGV[4], resumeTtlMs) end
return "left"

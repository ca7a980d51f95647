--[[
What the store knows of a pool, to be looked at; changes nothing. Begins with ledger.lua.

ARGV  1 how many members to list at most
Returns "" for a pool that is not known; else lines. The first has sync, lease, stale and timeout, ms of
learning left, how many members are left out, members that have not left, and what all lend and want beyond
their equal share. Each other line has a member: id, nonce, promised, told, ms since its sync, ms of its lease
left at most, 1 if it has arrived, 1 if it has left, ms since it joined, what it lends, what it wants beyond
its equal share, and what it says of itself, may be "". In the order of their ids.
]]
local stored = redis.call("HMGET", MEMBERS, "!", "@")
times = stored[1] and timesOf(stored[1])
if not times or not stored[2] then return "" end
pool = readPool(stored[2])
local now = pool.now + math.min(math.max(wall - pool.wall, 0), times.gap)
local timing = string.match(stored[1], "^%d+ (.+)$")
local lease = tonumber(string.match(timing, "^%d+ (%d+)"))

local all, entries, ids = redis.call("HGETALL", MEMBERS), {}, {}
for place = 1, #all, 2 do
  local id = all[place]
  if id ~= "@" and id ~= "!" then
    entries[id] = readEntry(all[place + 1])
    ids[#ids + 1] = id
  end
end
table.sort(ids)

local shown = math.min(#ids, tonumber(ARGV[1]))
local lines = { timing .. " " .. text(math.max(0, pool.learningUntil - now)) .. " " .. text(#ids - shown) .. " " ..
  table.concat({ text(pool.members), text(pool.lent), text(pool.extra) }, " ") }
for place = 1, shown do
  local id, e = ids[place], entries[ids[place]]
  local left = e.promised == 0 and 0 or math.max(0, math.max(e.toldAt, e.promisedAt) + lease - now)
  lines[#lines + 1] = table.concat({
    id, e.nonce, text(e.promised), text(e.told), text(now - e.seenAt), text(left),
    text(e.hasArrived), e.sequence == LEFT and "1" or "0", text(now - e.joinedAt), text(e.lent), text(e.extra), e.about,
  }, " ")
end
return table.concat(lines, "\n")

--[[
One sync of one member: registers it, counts the pool, and answers all as of one instant. What it does
is said by MemoryStore; a test compares the two reply by reply. One pass over the members, without a
table for each: every member of a pool pays for all of them.

KEYS  1 members: a hash of member id -> seven little-endian doubles (sequence, seen, size, level,
        entitled, promised, wanted; -1 for none) and the nonce, and of "@" -> "born synced kept", text.
        One key, so that it is lost whole.
      2 level: a hash of level, at, left
      3 limits: a hash of version, text, until
ARGV  1 id  2 nonce  3 sequence  4 size  5 level  6 version of the limits that it knows
      7 stale ms  8 learning ms  9 resume TTL ms  10 entitled  11 held  12 wanted
      Whole numbers; size, level and 10 to 12 may be "".
Returns {"refused"}, or {"counted", verdict, size, live, rank, roster, time in ms, parts, level, how it
was left, version of limits, their text}; all strings, "" for none.
Expires the members and the limits that nobody syncs for 2 x stale (limits: or for the resume TTL, if
that is longer), the level after the resume TTL.
]]
local POOL = "@"
local PARTS = 1000000000
local NONE = -1
local ENTRY = "<ddddddd"
local NONCE_AT = 57
local id, nonce, sequence = ARGV[1], ARGV[2], tonumber(ARGV[3])
local staleMs, learningMs, resumeTtlMs = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

-- The only clock of a pool.
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- tostring() rounds after 14 digits.
local function text(number)
  return string.format("%.0f", number)
end

-- Lua compares strings by the server's locale.
local bytes = {string.byte(id, 1, -1)}
local function isBeforeMe(other)
  for place = 1, math.min(#other, #bytes) do
    local byte = string.byte(other, place)
    if byte ~= bytes[place] then return byte < bytes[place] end
  end
  return #other < #bytes
end

-- What stands for one incarnation; their sum, in whatever order, for all who are live.
local function standsFor(member, incarnation)
  return tonumber(string.sub(redis.sha1hex(member .. "=" .. incarnation), 1, 10), 16)
end

-- All others who are live, in numbers.
local count, rank, smallest, largest, running = 0, 0, math.huge, 0, NONE
local roster = standsFor(id, nonce)
local entitledSum, promisedSum, ownSum, asked = 0, 0, 0, {}
local function add(size, entitled, promised, wanted)
  count = count + 1
  smallest, largest = math.min(smallest, size), math.max(largest, size)
  if entitled == NONE then return end
  local own = math.min(entitled, wanted)
  entitledSum, promisedSum, ownSum = entitledSum + entitled, promisedSum + promised, ownSum + own
  -- Who has no lease is given nothing.
  asked[#asked + 1] = entitled == 0 and 0 or wanted - own
end

local born, synced, mine
local gone, moved = {}, {}
local stored = redis.call("HGETALL", KEYS[1])
for place = 1, #stored, 2 do
  local other, packed = stored[place], stored[place + 1]
  if other == POOL then
    born, synced = string.match(packed, "^(%d+) (%d+) %d+$")
  else
    if #packed < NONCE_AT then error("SLUICE a member's entry is damaged") end
    local _, seen, size, level, entitled, promised, wanted = struct.unpack(ENTRY, packed)
    -- A clock that was set back must not keep anything until it has caught up.
    if seen > now then
      moved[other] = string.sub(packed, 1, 8) .. struct.pack("<d", now) .. string.sub(packed, 17)
    end
    if now - seen > staleMs then
      gone[#gone + 1] = other
    elseif other == id then
      mine = packed
    else
      add(size, entitled, promised, wanted)
      running = math.max(running, level)
      if isBeforeMe(other) then rank = rank + 1 end
      roster = roster + standsFor(other, string.sub(packed, NONCE_AT))
    end
  end
end
if mine and string.sub(mine, NONCE_AT) ~= nonce then return {"refused"} end
-- Nobody knows who holds shares of a pool that is new here: it is born now.
local isNew = not synced or now - synced > 2 * staleMs
born = isNew and now or math.min(tonumber(born), now)
local isLearning = now < born + learningMs

local saved = redis.call("HMGET", KEYS[2], "level", "at", "left")
local savedLevel, savedAt, savedLeft = tonumber(saved[1]), tonumber(saved[2]), saved[3]
if not (savedLevel and savedAt and now - savedAt < resumeTtlMs) then savedLevel = nil end
local foundLevel, foundLeft = "", ""
-- It has read no reply yet: a lost one is made up for.
if ARGV[4] == "" and ARGV[5] == "" then
  if running ~= NONE then
    foundLevel, foundLeft = text(running), "running"
  elseif savedLevel then
    foundLevel, foundLeft = text(savedLevel), savedLeft
  end
end

-- A member that knows a later version was told it by a store that has since lost it.
local limits = redis.call("HMGET", KEYS[3], "version", "text", "until")
local version, limitsUntil = tonumber(limits[1]), tonumber(limits[3])
local knownVersion = tonumber(ARGV[6])
if not (version and limitsUntil and now < limitsUntil) then version = nil end
if version and version < knownVersion then version = knownVersion + 1 end

-- The member itself, as it is now.
local isLate, size, level, entitled, promised, wanted = false
if mine then
  local last, _
  last, _, size, level, entitled, promised, wanted = struct.unpack(ENTRY, mine)
  isLate = sequence <= last
end
if not isLate then
  size, level = tonumber(ARGV[4]) or count + 1, tonumber(ARGV[5]) or NONE
  entitled, promised = tonumber(ARGV[10]) or NONE, tonumber(ARGV[11]) or NONE
  wanted = tonumber(ARGV[12]) or NONE
end
add(size, entitled, promised, wanted)

-- Its parts of the ceiling by demand.
local parts = ""
if ARGV[10] ~= "" then
  parts = "0"
  if entitled ~= NONE then
    table.sort(asked)
    local rest, most = entitledSum - ownSum, asked[#asked]
    for place, amount in ipairs(asked) do
      local even = math.floor(rest / (#asked - place + 1))
      if amount > even then
        most = even
        break
      end
      rest = rest - amount
    end
    local own = math.min(entitled, wanted)
    local fair = own + math.min(entitled == 0 and 0 or wanted - own, most)
    local told = math.min(fair, promised)
    if fair > promised and not isLate and not isLearning then
      local free = math.max(0, math.min(PARTS, entitledSum) - promisedSum)
      told = math.min(fair, promised + free)
    end
    parts = text(told)
    promised = math.max(promised, told)
  end
end

if not isLate then
  for other, packed in pairs(moved) do redis.call("HSET", KEYS[1], other, packed) end
  for _, other in ipairs(gone) do redis.call("HDEL", KEYS[1], other) end
  redis.call("HSET", KEYS[1],
    id, struct.pack(ENTRY, sequence, now, size, level, entitled, promised, wanted) .. nonce,
    POOL, text(born) .. " " .. text(now) .. " " .. text(2 * staleMs))
  redis.call("PEXPIRE", KEYS[1], text(2 * staleMs))

  local highest = math.max(running, level)
  if resumeTtlMs > 0 and (highest ~= NONE or savedLevel) then
    redis.call("HSET", KEYS[2],
      "level", text(highest ~= NONE and highest or savedLevel),
      "at", text(now),
      "left", highest ~= NONE and "crash" or savedLeft)
    redis.call("PEXPIRE", KEYS[2], text(resumeTtlMs))
  end

  if version then
    local keptMs = math.max(resumeTtlMs, 2 * staleMs)
    redis.call("HSET", KEYS[3], "version", text(version), "until", text(now + keptMs))
    redis.call("PEXPIRE", KEYS[3], text(keptMs))
  end
end

local isAgreed = smallest == largest and largest == count and not isLearning
local newVersion, newText = "", ""
if version and version > knownVersion then newVersion, newText = text(version), limits[2] end
return {
  "counted", isAgreed and "agree" or "disagree", text(largest), text(count), text(rank), text(roster),
  text(now), parts, foundLevel, foundLeft, newVersion, newText,
}

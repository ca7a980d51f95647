--[[
One sync of one member; begins with ledger.lua.

ARGV  1 id  2 nonce  3 sequence  4 1 before the member has read a reply  5 held  6 1 if held without a
      lease  7 wanted, "" if not known  8 safe share  9 1 to start on it  10 1 to be told the rank  11 level, may be ""
      12 version of the limits that it knows  13 1 if 14 is their text  15 timing: "sync lease stale
      timeout"  16 resume TTL, in ms  17 what it says of itself, may be ""
Returns "refused why", "late", or "told" and, with a space before each: told, 1 if renewed, reason, fair,
members, ms of learning left, 1 if settled, rank, server time in ms, 1 if its run id is known, saved level,
how it was left, version of the limits, 1 if their text follows, text; nothing between two spaces for none.
Expires the members after 2 x stale, the level after the resume TTL, the limits after the longer one.
]]
local id, nonce, sequence, isFirst = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4] == "1"
local held, isHeldUnleased, wanted = tonumber(ARGV[5]), ARGV[6] == "1", tonumber(ARGV[7])
local level, resumeTtlMs = tonumber(ARGV[11]), tonumber(ARGV[16])
local mine, isNewPool, isSameTiming = open(id, ARGV[15])

local function refused(why)
  save()
  return "refused " .. why
end
if not isSameTiming then return refused("other-timing") end
if mine and mine.sequence == LEFT and mine.nonce ~= nonce then
  remove(id, mine)
  mine = nil
end
if mine and mine.nonce ~= nonce then return refused("id-taken") end
if mine and sequence <= mine.sequence then
  save()
  return "late"
end
if not mine and pool.members >= MEMBERS_MAX then return refused("pool-full") end

local isUnknown = held > (mine and mine.promised or 0)
if isUnknown and not isHeldUnleased and pool.now >= pool.learningUntil then startLearning() end
local isNew = not mine
if isNew then
  -- 0: no safe share; 1: from the second sync on, if it is free; 2: at once.
  local safeStart = ARGV[9] == "1" and 2 or (isNewPool or pool.members == 0) and 1 or 0
  if not isFirst or held > 0 then safeStart = 0 end
  mine = newEntry(nonce)
  mine.joinedAt, mine.safeStart = pool.now, safeStart
  pool.count = pool.count + 1
  resize(1)
  redis.call("ZADD", RANKS, 0, id)
end

-- What a member reports is all that it may use: later replies have not reached it.
local heldAt = held <= mine.told and mine.toldAt or mine.promisedAt
if isHeldUnleased or isUnknown then heldAt = pool.now end
promise(mine, held, heldAt, held, heldAt)
mine.sequence, mine.seenAt, mine.about = sequence, pool.now, ARGV[17]

-- As src/ledger/fair-share.ts.
local equal = math.floor(PARTS / math.max(1, pool.members))
local claim = wanted or equal
local own = math.min(equal, claim)
wish(mine, equal - own, claim - own)
local fair = own
if pool.extra > 0 then fair = fair + math.floor(mine.extra * math.min(1, pool.lent / pool.extra)) end
if pool.lent > 0 then fair = fair + math.floor(mine.lent * math.max(0, 1 - pool.extra / pool.lent)) end

if held < fair and not isRefreshDue() then checkRun() end

-- As src/ledger/decision.ts.
local free, learningLeft = PARTS - pool.promised, pool.learningUntil - pool.now
local isHeadFresh = pool.now - pool.headAt <= 2 * times.sync
local told, isRenewed, reason = held, true, "kept"
if held > fair then
  if learningLeft > 2 * times.sync and free >= 0 then
    reason = "learning"
  else
    local room = PARTS
    if learningLeft > 2 * times.sync then
      room = math.max(0, -free)
    elseif pool.now - heldAt <= times.overdue and held <= (wanted or PARTS) then
      local idle = math.max(0, free) + math.min(pool.returning, pool.askedNow + pool.askedBefore)
      room = math.floor(math.max(0, IDLE_MAX - idle) + math.max(0, -free))
    end
    told = held - math.min(held - fair, room)
    isRenewed, reason = told <= fair, "asked-back"
  end
elseif held < fair then
  if learningLeft > 0 then
    reason = "learning"
  else
    local isBehind = mine.joinedAt > pool.headJoined or (held >= equal and mine.joinedAt ~= pool.headJoined)
    local reserved = isHeadFresh and isBehind and pool.headNeed or 0
    local grown = isNew and 0 or math.min(fair - held, math.max(0, free - reserved))
    told, reason = held + grown, grown > 0 and "grown" or "no-room"
  end
end
local least = mine.safeStart > 0 and math.min(tonumber(ARGV[8]), fair) or 0
if mine.safeStart == 1 then least = isNew and 0 or math.min(least, held + math.max(0, free)) end
if least > told then told, reason = least, "grown" end

local toldAt = isRenewed and pool.now or heldAt
if told < held then
  pool.askedNow = pool.askedNow + held - told
  promise(mine, held, heldAt, told, toldAt)
else
  promise(mine, told, toldAt, told, toldAt)
end
if told >= ARRIVED * fair then
  mine.hasArrived, mine.safeStart = 1, 0
  if mine.joinedAt == pool.headJoined then pool.headAt, pool.headJoined, pool.headNeed = -1e9, 0, 0 end
elseif mine.hasArrived == 0 and (not isHeadFresh or mine.joinedAt <= pool.headJoined) then
  pool.headAt, pool.headJoined, pool.headNeed = pool.now, mine.joinedAt, fair - told
end

-- The highest level reported in this window and in the one before.
local passed = pool.now - pool.levelSince
if passed >= LEVEL_WINDOW_MS then
  pool.levelBefore = passed < 2 * LEVEL_WINDOW_MS and pool.levelNow or NONE
  pool.levelNow, pool.levelSince = NONE, pool.now
end
if level then pool.levelNow = math.max(level, pool.levelNow) end
local running = math.max(pool.levelNow, pool.levelBefore)
local foundLevel, foundLeft = "", ""
if isFirst then
  local saved, left = savedLevel()
  if running ~= NONE and pool.members > 1 then
    foundLevel, foundLeft = text(running), "running"
  elseif saved then
    foundLevel, foundLeft = text(saved), left
  end
end
local isDue = isRefreshDue()
if resumeTtlMs > 0 and (isDue or (running ~= NONE and running ~= pool.savedLevel)) then
  pool.savedLevel = running
  local saved, left = savedLevel()
  if running ~= NONE then
    saveLevel(running, "crash", resumeTtlMs)
  elseif saved then
    saveLevel(saved, left, resumeTtlMs)
  end
end

-- A member teaches the server limits that the server has lost.
local limits = redis.call("HMGET", LIMITS, "version", "until")
local version, known = tonumber(limits[1]), tonumber(ARGV[12])
if not (version and wall < tonumber(limits[2])) then version = 0 end
local limitsKeptMs = math.max(resumeTtlMs, 2 * times.stale)
if ARGV[13] == "1" and known > version then
  version = known
  redis.call("HSET", LIMITS, "version", text(version), "text", ARGV[14], "until", text(wall + limitsKeptMs))
  redis.call("PEXPIRE", LIMITS, text(limitsKeptMs))
elseif version > 0 and isDue then
  redis.call("HSET", LIMITS, "until", text(wall + limitsKeptMs))
  redis.call("PEXPIRE", LIMITS, text(limitsKeptMs))
end
local isNewer = version > known

local isSettled = pool.now - pool.changedAt > times.stale
local rank = ""
if isSettled and ARGV[10] == "1" then
  if mine.rankedAt ~= pool.changedAt then
    local place = redis.call("ZRANK", RANKS, id)
    -- A server that evicted the ranks has them again when every member has synced.
    if not place then
      redis.call("ZADD", RANKS, 0, id)
    elseif redis.call("ZCARD", RANKS) == pool.members then
      mine.rank, mine.rankedAt = place, pool.changedAt
    end
  end
  if mine.rankedAt == pool.changedAt then rank = text(mine.rank) end
end
if isDue then pool.refreshedAt = wall end
index(id, mine)
redis.call("HSET", MEMBERS, id, packedEntry(mine), "@", packedPool(pool))
if isDue then expireMembers() end
local newText = isNewer and redis.call("HGET", LIMITS, "text") or ""
return string.format("told %.0f %d %s %.0f %d %.0f %d %s %.0f %d %s %s %.0f %d ", told, isRenewed and 1 or 0,
  reason, fair, pool.members, math.max(0, learningLeft), isSettled and 1 or 0, rank, wall,
  pool.run ~= "" and 1 or 0, foundLevel, foundLeft, version, isNewer and 1 or 0) .. newText

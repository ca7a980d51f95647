--[[
The ledger of one pool, as src/ledger/ledger.ts describes it; sync.lua and leave.lua begin with this
file. A test compares the scripts with the memory store reply by reply.

KEYS  1 members: a hash of
          "!" -> version of this protocol, then sync, lease, stale and timeout in ms, as text
          "@" -> the pool's record: little-endian doubles as in RECORD, then the server's replication id
          member id -> its entry: little-endian doubles as in ENTRY, then its nonce, then a comma and what it says of
                       itself to people, if anything; a version without that field keeps it as the end of the nonce
      2 due: a sorted set of member id -> the pool time at which its promise, or its entry, runs out
      3 ranks: a sorted set of the ids of all members that have not left, all with score 0
      4 level: a hash of level, left, until
      5 limits: a hash of version, text, until
Amounts are parts of the ceiling; instants are pool time, except `wall` and `until`: the server's time.
]]
local MEMBERS, DUE, RANKS, LEVEL, LIMITS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local VERSION = "7"
local PARTS, MEMBERS_MAX, IDLE_MAX, ARRIVED = 1000000000, 1000, 300000000, 0.9
local NONE, LEFT = -1, math.huge
-- Entries whose end is looked at in one step, so that a step stays short after many deaths.
local DUE_MAX = 256
local LEVEL_WINDOW_MS = 2000
-- Ages are refreshed this often, not at every sync. The keys live as much longer.
local REFRESH_MS = 1000

local RECORD = "<dddddddddddddddddddddd"
local RECORD_BYTES = 22 * 8
local ENTRY = "<dddddddddddddd"
local ENTRY_BYTES = 14 * 8

local time = redis.call("TIME")
local wall = time[1] * 1000 + math.floor(time[2] / 1000)

-- tostring() rounds after 14 digits.
local function text(number)
  return string.format("%.0f", number)
end

-- The replication id: new whenever a server starts or is promoted, so that older data is recognised. The
-- run id would be the same after a failover to another server and back. "" if this user may not call INFO.
local function runId()
  local info = redis.pcall("INFO", "replication")
  return type(info) == "string" and string.match(info, "master_replid:(%x+)") or ""
end

local pool, times

-- What follows from the timing in a header; nil if it is of another version.
local function timesOf(header)
  local version, sync, lease, stale, timeout = string.match(header, "^(%d+) (%d+) (%d+) (%d+) (%d+)$")
  if version ~= VERSION then return nil end
  sync, lease, stale, timeout = tonumber(sync), tonumber(lease), tonumber(stale), tonumber(timeout)
  local gap = sync + timeout
  return {
    sync = sync, stale = stale, gap = gap,
    learning = math.ceil(1.05 * lease) + gap,
    silent = 2 * gap,
    overdue = math.min(lease / 2, lease - 3 * gap),
  }
end

-- All fields at once: a table that grows field by field is copied at every doubling.
local function blankPool()
  return {
    run = "", wall = wall, now = 0, learningUntil = 0, changedAt = 0,
    count = 0, members = 0, promised = 0, returning = 0, lent = 0, extra = 0,
    askedSince = 0, askedNow = 0, askedBefore = 0,
    headAt = -1e9, headJoined = 0, headNeed = 0,
    levelSince = 0, levelNow = NONE, levelBefore = NONE, savedLevel = NONE,
    refreshedAt = -math.huge, nextDue = math.huge,
  }
end

local function newPool(header)
  times = timesOf(header)
  pool = blankPool()
  pool.run, pool.learningUntil = runId(), times.learning
  redis.call("DEL", MEMBERS, DUE, RANKS)
  redis.call("HSET", MEMBERS, "!", header)
end

local function readPool(packed)
  local p = blankPool()
  p.wall, p.now, p.learningUntil, p.changedAt, p.count, p.members, p.promised, p.returning, p.lent,
    p.extra, p.askedSince, p.askedNow, p.askedBefore, p.headAt, p.headJoined, p.headNeed, p.levelSince,
    p.levelNow, p.levelBefore, p.savedLevel, p.refreshedAt, p.nextDue = struct.unpack(RECORD, packed)
  p.run = string.sub(packed, RECORD_BYTES + 1)
  return p
end

local function packedPool(p)
  return struct.pack(RECORD, p.wall, p.now, p.learningUntil, p.changedAt, p.count, p.members, p.promised,
    p.returning, p.lent, p.extra, p.askedSince, p.askedNow, p.askedBefore, p.headAt, p.headJoined,
    p.headNeed, p.levelSince, p.levelNow, p.levelBefore, p.savedLevel, p.refreshedAt, p.nextDue) .. p.run
end

local function newEntry(nonce, about)
  return {
    nonce = nonce, about = about or "", joinedAt = 0, sequence = 0, seenAt = 0, promised = 0, promisedAt = 0, told = 0,
    toldAt = 0, hasArrived = 0, safeStart = 0, lent = 0, extra = 0, indexedAt = math.huge,
    rank = NONE, rankedAt = NONE,
  }
end

local function readEntry(packed)
  if #packed <= ENTRY_BYTES then error("SLUICE a member's entry is damaged") end
  local comma = string.find(packed, ",", ENTRY_BYTES + 1, true) or #packed + 1
  local e = newEntry(string.sub(packed, ENTRY_BYTES + 1, comma - 1), string.sub(packed, comma + 1))
  e.joinedAt, e.sequence, e.seenAt, e.promised, e.promisedAt, e.told, e.toldAt, e.hasArrived,
    e.safeStart, e.lent, e.extra, e.indexedAt, e.rank, e.rankedAt = struct.unpack(ENTRY, packed)
  return e
end

local function packedEntry(e)
  return struct.pack(ENTRY, e.joinedAt, e.sequence, e.seenAt, e.promised, e.promisedAt, e.told, e.toldAt,
    e.hasArrived, e.safeStart, e.lent, e.extra, e.indexedAt, e.rank, e.rankedAt) .. e.nonce ..
    (e.about == "" and "" or "," .. e.about)
end

local function dueAt(e)
  if e.promised > 0 then return e.promisedAt + times.stale end
  return e.seenAt + (e.sequence == LEFT and times.stale or times.silent)
end

local function startLearning()
  pool.learningUntil = pool.now + times.learning
  pool.changedAt = pool.now
end

local function promise(e, promised, promisedAt, told, toldAt)
  pool.promised = pool.promised + promised - e.promised
  pool.returning = pool.returning + promised - told - (e.promised - e.told)
  e.promised, e.promisedAt, e.told, e.toldAt = promised, promisedAt, told, toldAt
end

local function wish(e, lent, extra)
  pool.lent, pool.extra = pool.lent + lent - e.lent, pool.extra + extra - e.extra
  e.lent, e.extra = lent, extra
end

local function resize(by)
  pool.members = pool.members + by
  pool.changedAt = pool.now
  if pool.members == 0 then pool.levelSince, pool.levelNow, pool.levelBefore = 0, NONE, NONE end
end

local function remove(id, e)
  promise(e, 0, 0, 0, 0)
  wish(e, 0, 0)
  if e.sequence ~= LEFT then resize(-1) end
  pool.count = pool.count - 1
  redis.call("HDEL", MEMBERS, id)
  redis.call("ZREM", DUE, id)
  redis.call("ZREM", RANKS, id)
end

-- Puts an entry into the index of ends, unless it is there for an earlier instant: a renewed promise is
-- put in again only when that instant has come, not at every sync.
local function index(id, e)
  local at = dueAt(e)
  if at >= e.indexedAt then return end
  e.indexedAt = at
  if at < pool.nextDue then pool.nextDue = at end
  redis.call("ZADD", DUE, text(at), id)
end

local function write(id, e)
  index(id, e)
  redis.call("HSET", MEMBERS, id, packedEntry(e))
end

-- Entries, or a whole key, were lost: everything is made anew from what is left. The one pass over all.
local function recount()
  pool.count, pool.members, pool.promised, pool.returning, pool.lent, pool.extra = 0, 0, 0, 0, 0, 0
  pool.nextDue = math.huge
  redis.call("DEL", DUE, RANKS)
  local all = redis.call("HGETALL", MEMBERS)
  for place = 1, #all, 2 do
    local id = all[place]
    if id ~= "@" and id ~= "!" then
      local e = readEntry(all[place + 1])
      pool.count = pool.count + 1
      if e.sequence ~= LEFT then
        pool.members = pool.members + 1
        redis.call("ZADD", RANKS, 0, id)
      end
      pool.promised, pool.returning = pool.promised + e.promised, pool.returning + e.promised - e.told
      pool.lent, pool.extra = pool.lent + e.lent, pool.extra + e.extra
      e.indexedAt = math.huge
      write(id, e)
    end
  end
end

-- A promise that was not renewed for one stale age ends; what was told after it may still run.
local function endPromise(id, e)
  if e.promised > 0 and pool.now > e.promisedAt + times.stale then
    if e.toldAt > e.promisedAt and pool.now <= e.toldAt + times.stale then
      promise(e, e.told, e.toldAt, e.told, e.toldAt)
    else
      promise(e, 0, 0, 0, 0)
    end
  end
  if e.promised == 0 and pool.now > e.seenAt + (e.sequence == LEFT and times.stale or times.silent) then
    remove(id, e)
    return nil
  end
  e.indexedAt = math.huge
  write(id, e)
  return e
end

local function isRefreshDue()
  return wall - pool.refreshedAt >= REFRESH_MS or wall < pool.refreshedAt
end

-- Another run of the server may have older data. Only growth must know of it, so this is called before a
-- share grows, and otherwise once in REFRESH_MS: INFO costs as much as all other commands of a sync.
local function checkRun()
  local run = runId()
  if pool.run == run then return end
  pool.run = run
  startLearning()
end

-- Ends what has run out. Answers the entry of `id`, which may be among it.
local function endDue(id, mine)
  for _, other in ipairs(redis.call("ZRANGEBYSCORE", DUE, "-inf", "(" .. text(pool.now), "LIMIT", 0, DUE_MAX)) do
    local entry = redis.call("HGET", MEMBERS, other)
    if not entry then
      redis.call("ZREM", DUE, other)
    elseif other == id then
      mine = endPromise(id, mine)
    else
      endPromise(other, readEntry(entry))
    end
  end
  local first = redis.call("ZRANGEBYSCORE", DUE, "-inf", "+inf", "WITHSCORES", "LIMIT", 0, 1)
  pool.nextDue = tonumber(first[2]) or math.huge
  return mine
end

-- Begins a step for one member that has the timing `wanted`, as text. Answers its entry, if there is one,
-- whether the pool is new, and whether the pool has that timing.
local function open(id, wanted)
  local wantedHeader = VERSION .. " " .. wanted
  local found = redis.call("HMGET", MEMBERS, "!", "@", id)
  local header, record = found[1], found[2]
  times = timesOf(header or wantedHeader)
  if not times or (not header and redis.call("EXISTS", MEMBERS) == 1) then
    error("SLUICE another version of the protocol has this pool")
  end
  if record then pool = readPool(record) end
  local isNew = not (record and header) or wall - pool.wall > 2 * times.stale
  if isNew then
    newPool(wantedHeader)
    header = wantedHeader
  end
  pool.now = pool.now + math.min(math.max(wall - pool.wall, 0), times.gap)
  pool.wall = wall
  if isRefreshDue() then checkRun() end
  -- The header, and the record unless it is written for the first time, are no entries.
  if redis.call("HLEN", MEMBERS) - (isNew and 1 or 2) ~= pool.count then
    recount()
    startLearning()
  elseif isRefreshDue() and redis.call("ZCARD", DUE) ~= pool.count then
    -- Only the index was lost: without it no promise would end.
    recount()
  end
  local mine = not isNew and found[3] and readEntry(found[3]) or nil
  if pool.now > pool.nextDue then mine = endDue(id, mine) end
  if pool.now - pool.askedSince >= times.sync then
    pool.askedBefore = pool.now - pool.askedSince >= 2 * times.sync and 0 or pool.askedNow
    pool.askedSince, pool.askedNow = pool.now, 0
  end
  if pool.members == 0 and header ~= wantedHeader then
    newPool(wantedHeader)
    return nil, true, true
  end
  return mine, isNew, header == wantedHeader
end

local function expireMembers()
  local keptMs = text(2 * times.stale + REFRESH_MS)
  redis.call("PEXPIRE", MEMBERS, keptMs)
  redis.call("PEXPIRE", DUE, keptMs)
  redis.call("PEXPIRE", RANKS, keptMs)
end

-- Ends a step that changes no entry.
local function save()
  redis.call("HSET", MEMBERS, "@", packedPool(pool))
  expireMembers()
end

-- The saved level, unless it has run out.
local function savedLevel()
  local saved = redis.call("HMGET", LEVEL, "level", "left", "until")
  local keptUntil = tonumber(saved[3])
  if not (keptUntil and wall < keptUntil) then return nil end
  return tonumber(saved[1]), saved[2]
end

local function saveLevel(level, left, resumeTtlMs)
  redis.call("HSET", LEVEL, "level", text(level), "left", left, "until", text(wall + resumeTtlMs))
  redis.call("PEXPIRE", LEVEL, text(resumeTtlMs))
end


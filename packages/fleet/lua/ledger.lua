--[[
The ledger of one pool, as src/ledger/ledger.ts describes it; sync.lua and leave.lua begin with this
file. A test compares the scripts with the memory store reply by reply.

KEYS  1 members: a hash of
          "!" -> version of this protocol, then sync, lease, stale and timeout in ms, as text
          "@" -> the pool's record: little-endian doubles as in RECORD, then the server's replication id
          member id -> its entry: little-endian doubles as in ENTRY, then its nonce
      2 due: a sorted set of member id -> the pool time at which its promise, or its entry, runs out
      3 ranks: a sorted set of the ids of all members that have not left, all with score 0
      4 level: a hash of level, left, until
      5 limits: a hash of version, text, until
Amounts are parts of the ceiling; instants are pool time, except `wall` and `until`: the server's time.
]]
local MEMBERS, DUE, RANKS, LEVEL, LIMITS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local VERSION = "6"
local PARTS, MEMBERS_MAX, IDLE_MAX, ARRIVED = 1000000000, 1000, 300000000, 0.9
local NONE, LEFT = -1, math.huge
-- Entries whose end is looked at in one step, so that a step stays short after many deaths.
local DUE_MAX = 256
local LEVEL_WINDOW_MS = 2000
-- Ages are refreshed this often, not at every sync. The keys live as much longer.
local REFRESH_MS = 1000

local RECORD = "<ddddddddddddddddddddd"
local RECORD_BYTES = 21 * 8
local ENTRY = "<ddddddddddd"
local ENTRY_BYTES = 11 * 8

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

local function timesOf(sync, lease, stale, timeout)
  local gap = sync + timeout
  return {
    sync = sync, lease = lease, stale = stale, timeout = timeout,
    gap = gap,
    learning = math.ceil(1.05 * lease) + gap,
    silent = 2 * gap,
    overdue = math.min(lease / 2, lease - 3 * gap),
  }
end

local function timingText(t)
  return VERSION .. " " .. text(t.sync) .. " " .. text(t.lease) .. " " .. text(t.stale) .. " " .. text(t.timeout)
end

local function newPool(wanted)
  times = wanted
  pool = {
    run = runId(), wall = wall, now = 0, learningUntil = wanted.learning, changedAt = 0,
    count = 0, members = 0, promised = 0, returning = 0, lent = 0, extra = 0,
    askedSince = 0, askedNow = 0, askedBefore = 0,
    headAt = -1e9, headJoined = 0, headNeed = 0,
    levelSince = 0, levelNow = NONE, levelBefore = NONE, savedLevel = NONE, refreshedAt = -math.huge,
  }
  redis.call("DEL", MEMBERS, DUE, RANKS)
  redis.call("HSET", MEMBERS, "!", timingText(wanted))
end

local function readPool(packed)
  local p = {}
  p.wall, p.now, p.learningUntil, p.changedAt, p.count, p.members, p.promised, p.returning, p.lent,
    p.extra, p.askedSince, p.askedNow, p.askedBefore, p.headAt, p.headJoined, p.headNeed, p.levelSince,
    p.levelNow, p.levelBefore, p.savedLevel, p.refreshedAt = struct.unpack(RECORD, packed)
  p.run = string.sub(packed, RECORD_BYTES + 1)
  return p
end

local function packedPool(p)
  return struct.pack(RECORD, p.wall, p.now, p.learningUntil, p.changedAt, p.count, p.members, p.promised,
    p.returning, p.lent, p.extra, p.askedSince, p.askedNow, p.askedBefore, p.headAt, p.headJoined,
    p.headNeed, p.levelSince, p.levelNow, p.levelBefore, p.savedLevel, p.refreshedAt) .. p.run
end

local function readEntry(packed)
  if #packed <= ENTRY_BYTES then error("SLUICE a member's entry is damaged") end
  local e = {}
  e.joinedAt, e.sequence, e.seenAt, e.promised, e.promisedAt, e.told, e.toldAt, e.hasArrived,
    e.safeStart, e.lent, e.extra = struct.unpack(ENTRY, packed)
  e.nonce = string.sub(packed, ENTRY_BYTES + 1)
  return e
end

local function packedEntry(e)
  return struct.pack(ENTRY, e.joinedAt, e.sequence, e.seenAt, e.promised, e.promisedAt, e.told, e.toldAt,
    e.hasArrived, e.safeStart, e.lent, e.extra) .. e.nonce
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

local function write(id, e)
  redis.call("HSET", MEMBERS, id, packedEntry(e))
  redis.call("ZADD", DUE, text(dueAt(e)), id)
end

-- Entries, or a whole key, were lost: everything is made anew from what is left. The one pass over all.
local function recount()
  pool.count, pool.members, pool.promised, pool.returning, pool.lent, pool.extra = 0, 0, 0, 0, 0, 0
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
      redis.call("ZADD", DUE, text(dueAt(e)), id)
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
  write(id, e)
  return e
end

local function isRefreshDue()
  return wall - pool.refreshedAt >= REFRESH_MS or wall < pool.refreshedAt
end

-- Begins a step for one member. Answers its entry, if there is one, and whether the pool is new.
local function open(id, wanted)
  local found = redis.call("HMGET", MEMBERS, "!", "@", id)
  local header, record = found[1], found[2]
  local version, sync, lease, stale, timeout = string.match(header or "", "^(%d+) (%d+) (%d+) (%d+) (%d+)$")
  if (header and version ~= VERSION) or (not header and redis.call("EXISTS", MEMBERS) == 1) then
    error("SLUICE another version of the protocol has this pool")
  end
  if header then times = timesOf(tonumber(sync), tonumber(lease), tonumber(stale), tonumber(timeout)) end
  local isNew = false
  if record then pool = readPool(record) end
  if not (record and header) or wall - pool.wall > 2 * times.stale then
    newPool(wanted)
    isNew = true
  end
  pool.now = pool.now + math.min(math.max(wall - pool.wall, 0), times.gap)
  pool.wall = wall
  local run = runId()
  if pool.run ~= run then
    pool.run = run
    startLearning()
  end
  -- The header, and the record unless it is written for the first time, are no entries.
  local entries = redis.call("HLEN", MEMBERS) - (isNew and 1 or 2)
  if entries ~= pool.count then
    recount()
    startLearning()
  elseif isRefreshDue() and redis.call("ZCARD", DUE) ~= pool.count then
    -- Only the index was lost: without it no promise would end.
    recount()
  end
  local mine = not isNew and found[3] and readEntry(found[3]) or nil
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
  if pool.now - pool.askedSince >= times.sync then
    pool.askedBefore = pool.now - pool.askedSince >= 2 * times.sync and 0 or pool.askedNow
    pool.askedSince, pool.askedNow = pool.now, 0
  end
  if pool.members == 0 and timingText(times) ~= timingText(wanted) then
    newPool(wanted)
    return nil, true
  end
  return mine, isNew
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


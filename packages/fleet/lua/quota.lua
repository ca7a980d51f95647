--[[
One call for the quota of one key, as @sluice/core's quota-account.ts describes it. A test compares the
two reply by reply.

KEYS  1 a hash of at, term, leased, before, and "=" .. policy -> its tokens
ARGV  1 needed  2 least  3 wanted  4 share  5 settled: leased  6 unused  7 term, all three "" for none
      8 number of policies, then for each: name, limit, period in ms, burst
Returns "granted leased term" and for each policy " remaining reset", where the reset is "-" if no more comes.
The key expires when all balances are full.
]]
local LEASE_MS, ROUNDING, FAR_MS = 1000, 0.000001, 1e15
local key = KEYS[1]
local needed, least, wanted, share = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call("TIME")
local now = time[1] * 1000 + time[2] / 1000

-- tostring() rounds after 14 digits.
local function text(number)
  return string.format("%.17g", number)
end

local fields = {"at", "term", "leased", "before"}
local policies = {}
for i = 9, 5 + 4 * tonumber(ARGV[8]), 4 do
  local policy = {name = "=" .. ARGV[i], limit = tonumber(ARGV[i + 1]), period = tonumber(ARGV[i + 2]), burst = tonumber(ARGV[i + 3])}
  policies[#policies + 1] = policy
  fields[#fields + 1] = policy.name
end
local found = redis.call("HMGET", key, unpack(fields))
local at, term = tonumber(found[1] or now), tonumber(found[2] or 0)
local leased, before = tonumber(found[3] or 0), tonumber(found[4] or 0)

local function fill(policy, from, untilMs, out)
  if untilMs <= from then return from end
  policy.tokens = math.min(policy.burst - out, policy.tokens + ((untilMs - from) * policy.limit) / policy.period)
  return untilMs
end
local firstEnd = (term + 1) * LEASE_MS
for i, policy in ipairs(policies) do
  policy.tokens = tonumber(found[4 + i] or policy.burst)
  local from = fill(policy, at, math.min(now, firstEnd), leased + before)
  from = fill(policy, from, math.min(now, firstEnd + LEASE_MS), leased)
  fill(policy, from, now, 0)
end

local current = math.floor(now / LEASE_MS)
if current > term then
  before = current == term + 1 and leased or 0
  leased, term = 0, current
elseif current < term then
  leased, before, term = leased + before, 0, current
end

local returned = 0
if ARGV[5] ~= "" then
  local settled, unused, settledTerm = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
  if settledTerm == term and settled <= leased then
    leased, returned = leased - settled, unused
  elseif settledTerm == term - 1 and settled <= before then
    before, returned = before - settled, unused
  end
end

local isEnough, there = true, math.huge
for _, policy in ipairs(policies) do
  policy.tokens = policy.tokens + returned
  local most = policy.burst - leased - before
  if most <= 0 or policy.tokens + ROUNDING < math.min(least, most) then isEnough = false end
  there = math.min(there, policy.tokens)
end
there = math.max(0, math.floor(there + ROUNDING))
local granted = 0
if needed > 0 and isEnough then granted = math.max(math.min(needed, there), least) end
local lease = math.min(wanted, math.floor(math.max(0, there - granted) * share))
leased = leased + lease

local goal = granted < needed and least or 1
local idle = leased + before > 0 and 2 * LEASE_MS or 0
local reply = {text(granted), text(lease), text(term)}
local kept = {"at", text(now), "term", text(term), "leased", text(leased), "before", text(before)}
for _, policy in ipairs(policies) do
  local left = policy.tokens - granted - lease
  kept[#kept + 1] = policy.name
  kept[#kept + 1] = text(left)
  idle = math.max(idle, ((policy.burst - left) * policy.period) / policy.limit)
  local remaining = math.max(0, math.floor(left + ROUNDING))
  local target = math.min(policy.burst, math.max(goal, remaining + 1))
  reply[#reply + 1] = text(remaining)
  reply[#reply + 1] = left >= target and "-" or text(math.min(FAR_MS, math.max(1, math.ceil(((target - left) * policy.period) / policy.limit - ROUNDING))))
end
redis.call("HSET", key, unpack(kept))
redis.call("PEXPIRE", key, string.format("%.0f", math.min(FAR_MS, math.ceil(idle) + 1)))
return table.concat(reply, " ")

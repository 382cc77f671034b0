-- Gives shares of packets of one shard to a batch of users: first come, first served.
--
-- The generation in this text makes the script's SHA its own: a Redis that lost data answers NOSCRIPT (the fence).
-- Generation @generation@
--
-- KEYS[1]    the shard's journal
-- KEYS[2..]  a hash per packet: '#' is the next slot, '!' is there once the packet is closed (close.lua), every other field is user -> slot
-- ARGV[1]    how many entries the journal may hold
-- ARGV[2..]  for each packet, in the order of KEYS: its id, its number of slots, the number n of claims, n users
--
-- Returns    { sequence number of the journal entry, or '' when nothing was given;
--              an outcome per claim, in the order of ARGV, separated by spaces:
--              '+5' won slot 5 now, '=5' holds slot 5 already, 'drained', 'closed', 'missing' }
-- Errors     NO_JOURNAL, JOURNAL_FULL: nothing was changed
-- Idempotent a user who holds a slot gets it back, also within one batch
-- Cost       O(claims); at most 256 claims, so that unpack never meets Lua's stack limit
--
-- A script is atomic but not transactional: everything is built first, and the append is the first write. What fails
-- before it has changed nothing.

local limit = tonumber(ARGV[1])
local outcomes, entry, writes = {}, {}, {}
local at = 2

for k = 2, #KEYS do
  local packet, count, claims = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  at = at + 3
  local fields = { '#', '!' }
  for i = 0, claims - 1 do
    fields[i + 3] = ARGV[at + i]
  end
  at = at + claims

  local held = redis.call('HMGET', KEYS[k], unpack(fields))
  local first = held[1] and tonumber(held[1])
  local slot = first
  local winners, given, write = {}, {}, {}

  for i = 3, claims + 2 do
    local user = fields[i]
    local has = held[i] or given[user]
    local outcome
    if not first then
      outcome = 'missing'
    elseif has then
      outcome = '=' .. has
    elseif held[2] then
      outcome = 'closed'
    elseif slot >= count then
      outcome = 'drained'
    else
      outcome = '+' .. slot
      given[user] = slot
      winners[#winners + 1] = user
      write[#write + 1] = user
      write[#write + 1] = slot
      slot = slot + 1
    end
    outcomes[#outcomes + 1] = outcome
  end

  if #winners > 0 then
    entry[#entry + 1] = 'claim'
    entry[#entry + 1] = packet .. ' ' .. first .. ' ' .. table.concat(winners, ' ')
    write[#write + 1] = '#'
    write[#write + 1] = slot
    writes[#writes + 1] = { KEYS[k], write }
  end
end

local outcome = table.concat(outcomes, ' ')
if #entry == 0 then
  return { '', outcome }
end
--@include fence/room
--@include fence/append
for _, w in ipairs(writes) do
  redis.call('HSET', w[1], unpack(w[2]))
end
return { number, outcome }

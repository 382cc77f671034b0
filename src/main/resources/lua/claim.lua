-- Gives shares of packets of one shard to a batch of users: first come, first served.
--
-- The fence: the generation in this text gives the script a SHA of its own, so a Redis that lost data answers NOSCRIPT.
-- Generation @generation@
--
-- KEYS[1]    the shard's journal
-- KEYS[2..]  a hash for each packet:
--            '#'   the next slot
--            '!'   there once the packet is closed (close.lua)
--            user  the user's slot; users as in UserId.inRedis
-- KEYS[…]    then a hash for each campaign that counts claims:
--            '#'             always there
--            user            'claims:day:claims that day'
--            'user product'  claims
--            No user id has a space or begins with one of these marks.
-- ARGV[1]    the most entries of the journal
-- ARGV[2]    the number of packets
-- ARGV[3..]  for each packet, in the order of KEYS:
--            its id
--            its number of slots; 0 gives none, and only returns earlier outcomes
--            the number n of claims
--            the index in KEYS of the campaign that counts them; 0 for none
--            for a campaign: a user's limits in all, a day and a product (0: none), the campaign's day, the product
--            n users
--
-- Returns    { sequence number of the journal entry, or '' when nothing was given; an outcome per claim, separated by spaces }
--            '+5'         won slot 5 now
--            '=5'         holds slot 5 already
--            'drained'    every share is given
--            'closed'     the packet is closed
--            'missing'    the packet's hash is missing
--            'total'      the user has had all shares of the campaign
--            'limit'      all shares of the day
--            'product'    all shares for the product
--            'uncounted'  the campaign's hash is missing
-- Errors     NO_JOURNAL, JOURNAL_FULL: nothing was changed
--            BROKEN: nothing was changed, and Redis holds wrong values
-- Idempotent a user with a slot gets it back, also a slot from earlier in this batch
-- Cost       O(claims); at most 256 claims, so that unpack stays below Lua's stack limit
--
-- A script is atomic but not transactional. It builds everything first, and the append is its first write, so an earlier failure changes
-- nothing.

local limit, packets = tonumber(ARGV[1]), tonumber(ARGV[2])
local outcomes, entry, winners, decides = {}, {}, {}, false

-- The writes after the append, in one table for all hashes, since a table costs more than a claim. The fields and values of
-- hashes[i] end at ends[i].
local fields, size, hashes, ends = {}, 0, {}, {}
local function set(field, value)
  fields[size + 1], fields[size + 2] = field, value
  size = size + 2
end
local function set_in(hash)
  hashes[#hashes + 1], ends[#ends + 1] = hash, size
end

local at = 3

-- The counts of campaigns, by key: first Redis' values, then the values after this batch. 'changed' has the fields to write.
local campaigns = {}

-- Reads a campaign's counts of the users in ARGV, except counts that this batch has read.
local function counts_of(key, from, to, product)
  local campaign = campaigns[key] or { counts = {}, changed = {} }
  campaigns[key] = campaign
  local counts, fields = campaign.counts, { '#' }
  for i = from, to do
    local user = ARGV[i]
    for _, field in ipairs({ user, product and user .. ' ' .. product }) do
      if counts[field] == nil then
        counts[field] = false
        fields[#fields + 1] = field
      end
    end
  end
  local held = redis.call('HMGET', key, unpack(fields))
  for i = 1, #fields do counts[fields[i]] = held[i] end
  return campaign
end

-- Counts one more claim of a user, or returns the limit that forbids it. A day never goes back, since a server's clock may lag.
local function counted(campaign, user, total, a_day, a_product, day, product)
  local counts = campaign.counts
  local all, last, that_day = string.match(counts[user] or '0:0:0', '^(%d+):(%d+):(%d+)$')
  all, last, that_day = tonumber(all), tonumber(last), tonumber(that_day)
  if day > last then last, that_day = day, 0 end
  local of_product = product and user .. ' ' .. product
  local had = product and tonumber(counts[of_product] or 0) or 0
  if total > 0 and all >= total then return 'total' end
  if a_product > 0 and had >= a_product then return 'product' end
  if a_day > 0 and that_day >= a_day then return 'limit' end
  counts[user] = string.format('%.0f:%.0f:%.0f', all + 1, last, that_day + 1)
  campaign.changed[user] = true
  if product then
    counts[of_product] = had + 1
    campaign.changed[of_product] = true
  end
end

for k = 2, packets + 1 do
  local packet, count, claims, counting = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  at = at + 4
  local total, a_day, a_product, day, product
  if counting > 0 then
    total, a_day, a_product = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    day, product = tonumber(ARGV[at + 3]), a_product > 0 and ARGV[at + 4] or nil
    at = at + 5
  end
  local users = at
  at = at + claims

  -- By index: '#', '!' and each user's slot. By user: slots given in this batch. A slot is the text as in Redis.
  local held = redis.call('HMGET', KEYS[k], '#', '!', unpack(ARGV, users, at - 1))
  local first, closed = held[1], held[2]
  local slot, given = first, 0
  local wrong = first and not (tonumber(first) and (count == 0 or tonumber(first) <= count))
  if wrong or closed and not tonumber(closed) then
    return redis.error_reply('BROKEN ' .. KEYS[k])
  end
  local campaign = counting > 0 and counts_of(KEYS[counting], users, at - 1, product)

  for i = 0, claims - 1 do
    local user = ARGV[users + i]
    local has = held[3 + i] or held[user]
    local outcome
    if not first then
      outcome = 'missing'
    elseif has then
      if not (tonumber(has) and tonumber(has) < first + given) then
        return redis.error_reply('BROKEN ' .. KEYS[k])
      end
      outcome = '=' .. has
    elseif closed then
      outcome = 'closed'
    elseif first + given >= count then
      outcome = 'drained'
    elseif campaign and not campaign.counts['#'] then
      outcome = 'uncounted'
    else
      outcome = campaign and counted(campaign, user, total, a_day, a_product, day, product)
    end
    if not outcome then
      outcome = '+' .. slot
      if claims > 1 then held[user] = slot end
      set(user, slot)
      given = given + 1
      winners[given] = user
      slot = tostring(first + given)
      decides = decides or campaign
    elseif first and not has then
      decides = true
    end
    outcomes[#outcomes + 1] = outcome
  end

  if given > 0 then
    set('#', slot)
    set_in(KEYS[k])
    entry[#entry + 1] = 'claim'
    entry[#entry + 1] = packet .. ' ' .. first .. ' ' .. table.concat(winners, ' ', 1, given)
  end
end

if decides then
--@include fence/lineage
end
local outcome = table.concat(outcomes, ' ')
if #entry == 0 then
  return { '', outcome }
end
for key, campaign in pairs(campaigns) do
  for field in pairs(campaign.changed) do set(field, campaign.counts[field]) end
  if next(campaign.changed) then set_in(key) end
end

--@include fence/room
--@include fence/append
local from = 1
for i = 1, #hashes do
  redis.call('HSET', hashes[i], unpack(fields, from, ends[i]))
  from = ends[i] + 1
end
return { number, outcome }

#!lua flags=allow-oom
-- Closes packets of one shard: no share is given after it. The refund follows when the journal entry settles.
-- Generation @generation@ (the fence, as in claim.lua); the flag: what gives memory back has to run in a full Redis
--
-- KEYS[1]    the shard's journal
-- KEYS[2..]  the packets' hashes
-- ARGV       what the journal says of each packet, in the order of KEYS[2..]: its id; when it ends before its time also how and who
--            asked for it, separated by spaces; then for each 'unclaimed' for one that is closed only while no share of it was given;
--            may be left out when there is none
--
-- Returns    { sequence number of the journal entry, or '' when nothing was closed;
--              an outcome per packet, separated by spaces: 'closing', 'closed' (it was before, and that waits to be settled),
--              'claimed' (a share was given, and nothing is changed), 'missing' }
-- Errors     NO_JOURNAL: nothing was changed
-- Idempotent a second close is a no-op here while the first is in the journal, and in Postgres ever after. One that Postgres has
--            passed over, since its clock had gone back, is written again, whatever the mark says.
-- Cost       O(packets); at most 256
--
-- The mark '!' is the sequence number of the close's entry, which is trimmed once it is settled.

local outcomes, entry, closing = {}, {}, {}
for k = 2, #KEYS do
  local held = redis.call('HMGET', KEYS[k], '#', '!')
  if not held[1] then
    outcomes[#outcomes + 1] = 'missing'
  elseif held[2] and #redis.call('XRANGE', KEYS[1], '@epoch@-' .. held[2], '@epoch@-' .. held[2]) > 0 then
    outcomes[#outcomes + 1] = 'closed'
  elseif ARGV[k - 2 + #KEYS] == 'unclaimed' and held[1] ~= '0' then
    outcomes[#outcomes + 1] = 'claimed'
  else
    outcomes[#outcomes + 1] = 'closing'
    closing[#closing + 1] = KEYS[k]
    entry[#entry + 1] = 'close'
    entry[#entry + 1] = ARGV[k - 1]
  end
end

local outcome = table.concat(outcomes, ' ')
if #entry == 0 then
  return { '', outcome }
end
--@include fence/append
for _, key in ipairs(closing) do
  redis.call('HSET', key, '!', number)
end
return { number, outcome }

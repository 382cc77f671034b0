#!lua flags=allow-oom
-- Closes packets of one shard: no share is given after it. The refund follows when the journal entry settles.
-- Generation @generation@ (the fence, as in claim.lua). The flag lets a full Redis run it, since it frees memory.
--
-- KEYS[1]    the shard's journal
-- KEYS[2..]  the packets' hashes
-- ARGV       first, for each packet in the order of KEYS[2..]: the text of the journal item. It is the packet's id; for an early end also the
--            ending and the actor, separated by spaces
--            then, for each packet: 'unclaimed' to close it only before the first share. Absent when no packet has it
--
-- Returns    { sequence number of the journal entry, or '' when nothing was closed; an outcome per packet, separated by spaces }
--            'closing'  it is closed now
--            'closed'   it was closed before, and that entry is not settled yet
--            'claimed'  a share was given; nothing is changed
--            'missing'  the packet's hash is missing
-- Errors     NO_JOURNAL: nothing was changed
-- Idempotent a second close changes nothing while the first is in the journal, and nothing in Postgres after that. A close that Postgres
--            skipped, since its clock had gone back, is written again in spite of the mark.
-- Cost       O(packets); at most 256
--
-- The mark '!' is the sequence number of the close's entry, which is trimmed once it is settled.

local outcomes, entry, closing, refuses = {}, {}, {}, false
for k = 2, #KEYS do
  local held = redis.call('HMGET', KEYS[k], '#', '!')
  if not held[1] then
    outcomes[#outcomes + 1] = 'missing'
  elseif held[2] and #redis.call('XRANGE', KEYS[1], '@epoch@-' .. held[2], '@epoch@-' .. held[2]) > 0 then
    outcomes[#outcomes + 1] = 'closed'
  elseif ARGV[k - 2 + #KEYS] == 'unclaimed' and held[1] ~= '0' then
    outcomes[#outcomes + 1] = 'claimed'
    refuses = true
  else
    outcomes[#outcomes + 1] = 'closing'
    closing[#closing + 1] = KEYS[k]
    entry[#entry + 1] = 'close'
    entry[#entry + 1] = ARGV[k - 1]
  end
end

if refuses then
--@include fence/lineage
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

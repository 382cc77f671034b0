#!lua flags=allow-oom
-- Ends draws of one shard, or periods of draws whose releases do not carry over: no prize of them is given after it. When the journal entry
-- settles, the money goes back to the owner, or the releases to the stock.
-- Generation @generation@ (the fence, as in claim.lua). The flag lets a full Redis run it, since it frees memory.
--
-- KEYS[1]    the shard's journal
-- KEYS[2..]  two for each end: the draw's hash and its schedule
-- ARGV       for each end: the draw's id, and the period or '-' for the draw itself
--
-- Returns    { sequence number of the journal entry, or '' when nothing was ended; an outcome per end, separated by spaces }
--            'ending'   it is ended now
--            'ended'    it was ended before, and that entry is not settled yet
--            'missing'  the draw's hash is missing
-- Errors     NO_JOURNAL: nothing was changed
-- Idempotent for a draw, like a packet's close (close.lua); for a period, Postgres settles the end once
-- Cost       O(ends * releases of their draws); at most 256 ends

local outcomes, entry, closing, removing = {}, {}, {}, {}
for k = 2, #KEYS, 2 do
  local id, period = ARGV[k - 1], ARGV[k]
  local held = redis.call('HMGET', KEYS[k], '#', '!')
  if not held[1] then
    outcomes[#outcomes + 1] = 'missing'
  elseif held[2] and period == '-'
    and #redis.call('XRANGE', KEYS[1], '@epoch@-' .. held[2], '@epoch@-' .. held[2]) > 0 then
    outcomes[#outcomes + 1] = 'ended'
  else
    outcomes[#outcomes + 1] = 'ending'
    entry[#entry + 1] = 'end'
    entry[#entry + 1] = id .. ' ' .. period
    if period == '-' then
      closing[#closing + 1] = KEYS[k]
    else
      for _, member in ipairs(redis.call('ZRANGE', KEYS[k + 1], 0, -1)) do
        if string.sub(member, 1, #period + 1) == period .. ':' then
          removing[#removing + 1] = { KEYS[k + 1], member }
        end
      end
    end
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
for _, release in ipairs(removing) do
  redis.call('ZREM', release[1], release[2])
end
return { number, outcome }

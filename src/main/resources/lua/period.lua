-- Puts the releases of a planned period on a draw's schedule.
-- Generation @generation@ (the fence, as in claim.lua)
--
-- KEYS[1]    the shard's journal
-- KEYS[2]    the draw's hash: '~' is the last loaded period
-- KEYS[3]    its schedule (see play.lua)
-- ARGV[1]    the period, from 0; periods are loaded in order
-- ARGV[2..]  for each release: its moment in milliseconds, and 'period:prize:n'
--
-- Returns    1 when they are loaded now, 0 when they were before, -1 when the draw is missing
-- Errors     NO_JOURNAL: nothing was changed
-- Idempotent a period is loaded once: taken releases do not come back
-- Cost       O(releases * log(releases)); at most 50,000

--@include fence/journal
local last = redis.call('HGET', KEYS[2], '~')
if not last then
  return -1
end
if tonumber(last) >= tonumber(ARGV[1]) then
  return 0
end
for from = 2, #ARGV, 1000 do
  redis.call('ZADD', KEYS[3], unpack(ARGV, from, math.min(from + 999, #ARGV)))
end
redis.call('HSET', KEYS[2], '~', ARGV[1])
return 1

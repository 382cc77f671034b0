-- Makes a new draw playable, if it is not yet.
-- Generation @generation@ (the fence, as in claim.lua)
--
-- KEYS[1]    the shard's journal
-- KEYS[2]    the draw's hash (see play.lua)
-- KEYS[3]    its schedule, when it has one
-- ARGV       its rules and its first state (MessagePack)
--
-- Returns    1 when the draw was not there before, else 0
-- Errors     NO_JOURNAL: nothing was changed
-- Idempotent an existing draw keeps its state
-- Cost       O(1)

--@include fence/journal
if redis.call('EXISTS', KEYS[2]) == 1 then
  return 0
end
redis.call('HSET', KEYS[2], '#', 0, '~', -1, '*', ARGV[1], '=', ARGV[2])
if KEYS[3] then
  redis.call('ZADD', KEYS[3], '-inf', '#')
end
return 1

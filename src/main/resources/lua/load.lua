-- Makes new packets claimable, if they are not yet.
-- Generation @generation@ (the fence, as in claim.lua)
--
-- KEYS[1]    the shard's journal
-- KEYS[2..]  the packets' hashes
--
-- Returns    the number of packets that were not there before
-- Errors     NO_JOURNAL: nothing was changed
-- Idempotent an existing packet keeps its slots
-- Cost       O(packets)

--@include fence/journal
local loaded = 0
for k = 2, #KEYS do
  loaded = loaded + redis.call('HSETNX', KEYS[k], '#', 0)
end
return loaded

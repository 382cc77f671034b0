-- Adds to what a caller has used of a rate limit, over all servers.
-- Belongs to no shard and to no generation.
--
-- KEYS[1]    the caller's use of the limit. Its time to live is the time in which all of it comes back; its value says nothing
-- ARGV[1]    what to add, in milliseconds in which it comes back; negative when it is given back
-- ARGV[2]    the most that is remembered, in milliseconds: also when this server's clock was set back
--
-- Returns    what is used now, in milliseconds; 0 or more
-- Cost       O(1)

local used = math.max(0, redis.call('PTTL', KEYS[1])) + tonumber(ARGV[1])
used = math.max(0, math.min(used, tonumber(ARGV[2])))
if used == 0 then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], '1', 'PX', used)
end
return used

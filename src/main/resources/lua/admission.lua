-- Tells the other servers what came to this one and what of it was settled, and hears it of them.
-- Belongs to no shard and to no generation.
--
-- KEYS[1]    what the servers told last, each in a field with its name: the moment by Redis' clock in milliseconds, a space, the line
-- ARGV[1]    this server's name
-- ARGV[2]    its line
-- ARGV[3]    for how many milliseconds a line holds
--
-- Returns    Redis' clock in milliseconds, then the names and the lines of the others; what is older is forgotten
-- Cost       O(servers)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local holds = tonumber(ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f ', now) .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], holds)
local all = redis.call('HGETALL', KEYS[1])
local told = { string.format('%.0f', now) }
for i = 1, #all, 2 do
  if all[i] ~= ARGV[1] then
    local at, line = string.match(all[i + 1], '^(%d+) (.*)$')
    if at and math.abs(now - tonumber(at)) <= holds then
      told[#told + 1] = all[i]
      told[#told + 1] = line
    else
      redis.call('HDEL', KEYS[1], all[i])
    end
  end
end
return told

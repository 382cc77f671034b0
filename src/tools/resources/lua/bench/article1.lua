-- What article 1 does to give one share to one user, written anew; the benchmarks' baseline. Its traps are kept:
-- nil for both "sold out" and "has one already", the user id as a KEY.
--
-- KEYS[1] list of shares nobody has, as JSON · KEYS[2] list of claimed ones · KEYS[3] map of who claimed · KEYS[4] the user
-- Returns the share as JSON, with the user in it, or nil
if redis.call('HEXISTS', KEYS[3], KEYS[4]) == 1 then
  return nil
end
local share = redis.call('RPOP', KEYS[1])
if not share then
  return nil
end
local claimed = cjson.decode(share)
claimed['userId'] = KEYS[4]
local text = cjson.encode(claimed)
redis.call('HSET', KEYS[3], KEYS[4], KEYS[4])
redis.call('LPUSH', KEYS[2], text)
return text

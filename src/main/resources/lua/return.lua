#!lua flags=allow-oom
-- Returns the costs of requests that were held and never decided (a server died in between), and forgets old decisions.
-- Generation @generation@ (the fence, as in claim.lua). The flag lets a full Redis run it, since it frees memory.
--
-- KEYS[1]    the shard's journal
-- KEYS[2]    the shard's decided attempts (see play.lua)
-- ARGV[1]    now, in milliseconds
-- ARGV[2]    forget decisions of journal entries up to this sequence number; -1 for none
-- ARGV[3..]  for each request: draw, id, attempt, user
--
-- Returns    { sequence number of the journal entry, or ''; the number of returned costs; the journal entry's items }
-- Errors     NO_JOURNAL, BROKEN: nothing was changed
-- Idempotent by attempt: a decided attempt is left alone, also one that this script decided
-- Cost       O(requests + forgotten decisions * log(decisions)); at most 256 requests

--@include fence/journal
if not redis.call('ZSCORE', KEYS[2], '#') then return redis.error_reply('BROKEN ' .. KEYS[2]) end
local entry, attempts = {}, {}
for at = 3, #ARGV, 4 do
  local draw, request, attempt, user = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  if not redis.call('ZSCORE', KEYS[2], attempt) then
    entry[#entry + 1] = 'play'
    entry[#entry + 1] = table.concat({ draw, request, attempt, user, ARGV[1], '!', 'undecided' }, ' ')
    attempts[#attempts + 1] = attempt
  end
end
local written, items = '', {}
if #entry > 0 then
  --@include fence/append
  written = number
  local scores = {}
  for i, attempt in ipairs(attempts) do
    scores[2 * i - 1] = number
    scores[2 * i] = attempt
    items[i] = entry[2 * i]
  end
  redis.call('ZADD', KEYS[2], unpack(scores))
end
if tonumber(ARGV[2]) >= 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[2])
end
return { written, #items, items }

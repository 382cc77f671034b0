-- Included by fence/lineage, and before the first write of a script that appends nothing itself.
-- A generation without a journal is over or in recovery: refuses to write into it.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return redis.error_reply('NO_JOURNAL generation @generation@ has no journal')
end

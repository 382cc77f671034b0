-- Included: takes `limit`, the entries that the journal may hold.
-- A journal that nobody settles does not grow without bound.
if redis.call('XLEN', KEYS[1]) >= limit then
  return redis.error_reply('JOURNAL_FULL the journal holds ' .. limit .. ' entries that are not settled')
end

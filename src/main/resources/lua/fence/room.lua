-- Included. Takes `limit`, the most entries of the journal.
-- Bounds the journal while no server settles it.
if redis.call('XLEN', KEYS[1]) >= limit then
  return redis.error_reply('JOURNAL_FULL the journal holds ' .. limit .. ' entries that are not settled')
end

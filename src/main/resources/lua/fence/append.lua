-- Included. Takes `entry`, the fields of the journal entry; sets its `number`.
-- The append is the first write, so an earlier failure changes nothing. A missing journal is not created.
local entry_id = redis.call('XADD', KEYS[1], 'NOMKSTREAM', '@epoch@-*', unpack(entry))
if not entry_id then
  return redis.error_reply('NO_JOURNAL generation @generation@ has no journal')
end
local number = string.sub(entry_id, string.find(entry_id, '-', 1, true) + 1)

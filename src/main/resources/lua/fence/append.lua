-- Included. Takes `entry`, the fields of the journal entry; sets its `number`.
-- The append is the first write, so an earlier failure changes nothing. A missing journal is not created.
-- Its first field is a checksum of the others: Redis' log has none, and a flipped bit there must not give a share to another user.
local sum = redis.sha1hex(table.concat(entry, ' '))
local entry_id = redis.call('XADD', KEYS[1], 'NOMKSTREAM', '@epoch@-*', 'sum', sum, unpack(entry))
if not entry_id then
  return redis.error_reply('NO_JOURNAL generation @generation@ has no journal')
end
local number = string.sub(entry_id, string.find(entry_id, '-', 1, true) + 1)

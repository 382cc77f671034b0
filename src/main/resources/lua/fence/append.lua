-- Included: takes `entry`, the fields of the journal entry; gives its `number`.
-- The append is the first write: what fails before it has changed nothing. A journal that is gone is not made anew.
local entry_id = redis.call('XADD', KEYS[1], 'NOMKSTREAM', '@epoch@-*', unpack(entry))
if not entry_id then
  return redis.error_reply('NO_JOURNAL generation @generation@ has no journal')
end
local number = string.sub(entry_id, string.find(entry_id, '-', 1, true) + 1)

-- Included where a script refuses, counts for a limit or plays. What that follows from may be lost. A lost journal takes along winners that
-- are not settled. A demoted primary that is promoted again has its scripts, but maybe older data, which lacks settled claims, plays and
-- periods: its replication id is not the one in which recovery prepared this generation.
--@include fence/journal
if not string.find(redis.call('INFO', 'replication'), 'master_replid:@replid@', 1, true) then
  return redis.error_reply('NO_JOURNAL generation @generation@ was prepared in another history of Redis')
end

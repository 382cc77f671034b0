-- Included where a script refuses, counts for a limit or plays, since its data may be wrong. A lost journal takes along winners that are not
-- settled: their slots are given again. A demoted primary that is promoted again has its scripts, but maybe older data. That data lacks
-- settled claims, plays and periods, and its replication id is not the one in which recovery prepared this generation.
--@include fence/journal
if not string.find(redis.call('INFO', 'replication'), 'master_replid:@replid@', 1, true) then
  return redis.error_reply('NO_JOURNAL generation @generation@ was prepared in another history of Redis')
end

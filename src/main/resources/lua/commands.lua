#!lua flags=no-writes
-- Returns the names of commands that this Redis lacks or forbids its caller. Runs none of them.
--
-- ARGV[1]   a key or channel for the check
-- ARGV[2..] the commands; a subcommand follows a |
-- Returns   the names of missing or forbidden commands
local missing = {}
if redis.acl_check_cmd then
  for i = 2, #ARGV do
    local command, sub = string.match(ARGV[i], '^([^|]+)|?(.*)$')
    local known, allowed
    if sub == '' then
      known, allowed = pcall(redis.acl_check_cmd, command, ARGV[1], ARGV[1], ARGV[1])
    else
      known, allowed = pcall(redis.acl_check_cmd, command, sub, ARGV[1])
    end
    if not (known and allowed) then
      missing[#missing + 1] = ARGV[i]
    end
  end
end
return missing

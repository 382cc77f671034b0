#!lua flags=no-writes
-- Names the commands that this Redis does not have, or does not allow its caller. Runs none of them.
--
-- ARGV[1]  a key or channel such as the commands are sent for
-- ARGV[2…] the commands; a subcommand stands after a |
-- returns  the names of those that are missing
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

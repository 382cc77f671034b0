-- Plays prize draws of one shard for a batch of requests. A request is one user's plays under one key, all of them or none.
--
-- Generation @generation@ (the fence, as in claim.lua)
--
-- KEYS[1]    the shard's journal
-- KEYS[2]    the shard's decided attempts, a sorted set: attempt -> sequence number of the journal entry. Its '#' -> +inf is always there,
--            so that a lost set is noticed.
-- KEYS[3..]  two for each draw, its hash and its schedule. The hash:
--            '#'   the number of plays
--            '!'   there once the draw is closed
--            '*'   its rules, '=' its state (MessagePack, below)
--            '~'   the last loaded period
--            user  counters: plays, day, plays that day, plays without a prize of each guarantee …, wins of each prize with a limit …
--                  Users as in UserId.inRedis, which begin with none of these marks.
--            The schedule is a sorted set: 'period:prize:n' -> moment in milliseconds. Its '#' -> -inf is there even without releases, so that
--            a lost schedule is noticed.
-- ARGV[1]    the most entries of the journal
-- ARGV[2]    now in milliseconds, by Postgres' clock as the server knows it; it decides the due releases
-- ARGV[3..]  for each draw: its id, its local day, the number of its requests; for each request:
--            id, attempt, user, plays
--            1 when its cost is held
--            random numbers from 0 to 2^52 - 1 (MessagePack array), play after play, equally many for each. The server provides all
--            chance, no play uses another play's numbers, and the script is deterministic.
--
-- Rules      { mode (0 table, 1 weights, 2 schedule), after a round (0 stop, 1 repeat, 2 rescale, 3 fallback), chances, limits per user,
--              guarantees fulfilled (by prize), fallback, plays per user, plays per user and day, plays of each guarantee,
--              start of the first period, length of a period, 1 when releases carry over }
-- State      { round, left in the round (by prize), left of the stock (by prize, -1: no limit) }
--
-- Returns    { sequence number or '', an outcome per request separated by spaces, the journal entry's items }
--            '+'          played now
--            '='          decided before: wait for it
--            'limit'      the user has too few plays left in all
--            'day'        … or on this day
--            'exhausted'  a play would win nothing
--            'closed'     the draw is closed
--            'missing'    the draw's hash is missing
--            '?'          for all requests: a play has too few numbers, and nothing was changed. Call again with more
-- Journal    an item for each request that was played, or whose cost is to be returned:
--            draw request attempt user now seq prize:round[:period:n],… counters [~]    ('-' for no counters; '~' with a schedule)
--            draw request attempt user now ! reason
-- Errors     NO_JOURNAL, JOURNAL_FULL: nothing was changed
--            BROKEN: nothing was changed, and Redis holds wrong values
-- Idempotent by attempt, also within one batch
-- Cost       O(plays * prizes), and once the releases up to the last one taken; at most 256 requests and 2,560 plays, so that unpack
--            stays below Lua's stack limit
--
-- It builds everything first, and the append is the first write. DrawModel.java does the same in Java.

local RANGE = 4503599627370496 -- 2^52
local limit, now = tonumber(ARGV[1]), tonumber(ARGV[2])
local numbers, used, last, starved -- of the current play: its numbers are at used + 1 to last
local outcomes, entry, attempts, writes, decides = {}, {}, {}, {}, false

local function below(bound)
  if bound == 1 then return 0 end
  local top = RANGE - RANGE % bound
  while true do
    if used == last then
      starved = true
      return 0
    end
    used = used + 1
    local number = numbers[used]
    if number < top then return number % bound end
  end
end

-- One draw of the batch. undo keeps changes, so that a request that cannot be completed leaves none.
local function open(hash, schedule, held)
  local r, s = cmsgpack.unpack(held[3]), cmsgpack.unpack(held[4])
  local mode, when, chances, per_user, fulfils, fallback = r[1], r[2], r[3], r[4], r[5], r[6]
  local plays_total, plays_day, guarantees = r[7], r[8], r[9]
  if mode == 2 and (not tonumber(held[5] or '') or not redis.call('ZSCORE', schedule, '#')) then
    return nil
  end
  local left, stock = s[2], s[3]
  local prizes = #stock
  local draw = { seq = tonumber(held[1]), taken = {}, loaded = mode == 2 and held[5] or nil }
  local undo = {}
  local places, limited, tracks = {}, 0, plays_total > 0 or plays_day > 0 or #guarantees > 0
  for i = 1, prizes do
    if per_user[i] > 0 then
      limited = limited + 1
      places[i] = limited
      tracks = true
    end
  end
  local in_round, sum = 0, 0
  for i = 1, #left do in_round = in_round + left[i] end
  for i = 1, prizes do sum = sum + chances[i] end

  local function set(t, k, v)
    undo[#undo + 1] = { t, k, t[k] }
    t[k] = v
  end

  local round = { s[1], in_round } -- a table, so that undo reaches it
  local wins_at = 3 + #guarantees

  local function may_win(player, i, guarantee)
    if stock[i] == 0 or (guarantee > 0 and fulfils[i] ~= guarantee) then return false end
    return per_user[i] == 0 or player[wins_at + places[i]] < per_user[i]
  end

  local function pick(player, proportions, guarantee)
    local all, some = 0, {}
    for i = 1, #proportions do
      if proportions[i] > 0 and may_win(player, i, guarantee) then
        all = all + proportions[i]
        some[#some + 1] = i
      end
    end
    if all == 0 then return 0 end
    local at = below(all)
    for _, i in ipairs(some) do
      at = at - proportions[i]
      if at < 0 then return i end
    end
    return 0
  end

  -- The schedule, read in pages as needed: for each prize its releases in their order, and the place of the first that is left. A prize's
  -- earliest release is taken first, so a play looks at one release of each prize.
  local releases, heads, listed, complete = {}, {}, 0, mode ~= 2
  for i = 1, prizes do
    releases[i], heads[i] = {}, 1
  end
  local from, skip, latest = '(-inf', 0, -math.huge
  if mode == 2 and r[12] == 0 then
    from = string.format('%.0f', r[10] + math.floor((now - r[10]) / r[11]) * r[11])
  end

  local function read_page()
    local page = redis.call('ZRANGEBYSCORE', schedule, from, '+inf', 'WITHSCORES', 'LIMIT', skip, 64)
    for k = 1, #page, 2 do
      local prize = tonumber(string.match(page[k], ':(%d+):'))
      listed = listed + 1
      latest = tonumber(page[k + 1])
      releases[prize][#releases[prize] + 1] = { page[k], latest, listed }
      -- The next page begins at this moment, after its releases that are read.
      if page[k + 1] == from then skip = skip + 1 else from, skip = page[k + 1], 1 end
    end
    complete = #page < 128
  end

  local function due(player, until_moment, guarantee)
    while true do
      local prize, release, may = 0, nil, false
      for i = 1, prizes do
        if i ~= fallback and may_win(player, i, guarantee) then
          may = true
          local next = releases[i][heads[i]]
          if next and (not release or next[3] < release[3]) then prize, release = i, next end
        end
      end
      if release then
        if release[2] > until_moment then return 0 end
        set(heads, prize, heads[prize] + 1)
        set(draw.taken, release[1], true)
        return prize, release[1]
      end
      if not may or complete or latest > until_moment then return 0 end
      read_page()
    end
  end

  local function start_round()
    if when == 0 or when == 3 then return end
    local counts, all = {}, 0
    for i = 1, #left do
      local full = chances[i]
      local count = (stock[i] < 0 or stock[i] > full) and full or stock[i]
      if count < full and when ~= 2 then return end
      counts[i] = count
      all = all + count
    end
    if all == 0 then return end
    for i = 1, #left do set(left, i, counts[i]) end
    set(round, 1, round[1] + 1)
    set(round, 2, all)
  end

  local function guaranteed(player)
    for g = 1, #guarantees do
      if player[3 + g] >= guarantees[g] - 1 then
        local prize, release
        if mode == 2 then
          prize, release = due(player, math.huge, g)
        else
          prize = pick(player, mode == 0 and left or chances, g)
        end
        if prize > 0 then return prize, release end
      end
    end
    return 0
  end

  local function by_weight(player)
    local at = below(sum)
    for i = 1, prizes do
      at = at - chances[i]
      if at < 0 then return may_win(player, i, 0) and i or 0 end
    end
    return 0
  end

  local function play(player)
    local prize, release = guaranteed(player)
    if prize == 0 then
      if mode == 2 then
        prize, release = due(player, now, 0)
      elseif mode == 1 then
        prize = by_weight(player)
      else
        if round[2] == 0 then start_round() end
        if round[2] > 0 then prize = pick(player, left, 0) end
      end
    end
    if prize == 0 then
      prize = fallback
      if prize == 0 or stock[prize] == 0 then return 0 end
    end
    if stock[prize] > 0 then set(stock, prize, stock[prize] - 1) end
    if mode == 0 and prize ~= fallback then
      set(left, prize, left[prize] - 1)
      set(round, 2, round[2] - 1)
    end
    for g = 1, #guarantees do
      player[3 + g] = fulfils[prize] == g and 0 or player[3 + g] + 1
    end
    local wins = places[prize] and wins_at + places[prize]
    if wins then player[wins] = player[wins] + 1 end
    return prize, release
  end

  -- The counters of a user, as numbers.
  local function counters(text)
    local player = {}
    if text then
      for number in string.gmatch(text, '[^,]+') do player[#player + 1] = tonumber(number) end
    else
      for i = 1, wins_at + limited do player[i] = 0 end
      player[2] = -1
    end
    return player
  end

  -- Plays a request. Returns the prizes as in the journal, and the user's new counters; or nil and the reason.
  function draw.request(text, plays, day, chance)
    local player = tracks and counters(text) or { 0, -1, 0 }
    if plays_total > 0 and player[1] + plays > plays_total then return nil, 'limit' end
    local today = math.max(day, player[2])
    local that_day = today == player[2] and player[3] or 0
    if plays_day > 0 and that_day + plays > plays_day then return nil, 'day' end
    undo = {}
    local words = {}
    numbers = cmsgpack.unpack(chance)
    local each = #numbers / plays
    for n = 1, plays do
      used, last = (n - 1) * each, n * each
      local prize, release = play(player)
      if prize == 0 then
        for i = #undo, 1, -1 do undo[i][1][undo[i][2]] = undo[i][3] end
        return nil, 'exhausted'
      end
      local word = prize .. ':' .. round[1]
      if release then
        local period, index = string.match(release, '^(%d+):%d+:(%d+)$')
        word = word .. ':' .. period .. ':' .. index
      end
      words[n] = word
    end
    player[1], player[2], player[3] = player[1] + plays, today, that_day + plays
    draw.seq = draw.seq + plays
    return table.concat(words, ','), tracks and table.concat(player, ',') or '-'
  end

  function draw.state()
    return cmsgpack.pack({ round[1], left, stock })
  end

  return draw
end

local at, key = 3, 3
while key <= #KEYS do
  local id, day, requests = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  at = at + 3
  local fields, asked = { '#', '!', '*', '=', '~' }, { '#' }
  for t = 0, requests - 1 do
    fields[6 + t] = ARGV[at + 6 * t + 2]
    asked[2 + t] = ARGV[at + 6 * t + 1]
  end
  local held = redis.call('HMGET', KEYS[key], unpack(fields))
  local decided = redis.call('ZMSCORE', KEYS[2], unpack(asked))
  if not decided[1] then
--@include fence/journal
    return redis.error_reply('BROKEN ' .. KEYS[2])
  end
  local draw = held[1] and not held[2] and open(KEYS[key], KEYS[key + 1], held)
  if held[2] and not tonumber(held[2]) or held[1] and not held[2] and not draw then
    return redis.error_reply('BROKEN ' .. KEYS[key] .. ' or its schedule')
  end
  local players, changed = {}, {}

  for t = 0, requests - 1 do
    local request, attempt, user = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    local plays, paid, chance = tonumber(ARGV[at + 3]), ARGV[at + 4] == '1', ARGV[at + 5]
    at = at + 6
    local outcome, prizes, counters
    if decided[2 + t] or attempts[attempt] then
      outcome = '='
    elseif not held[1] then
      outcome = 'missing'
    elseif held[2] then
      outcome = 'closed'
    else
      local seq = draw.seq
      prizes, counters = draw.request(players[user] or held[6 + t], plays, day, chance)
      outcome = prizes and '+' or counters
      if prizes then
        entry[#entry + 1] = 'play'
        local words = { id, request, attempt, user, ARGV[2], seq, prizes, counters }
        words[9] = draw.loaded
        entry[#entry + 1] = table.concat(words, ' ')
        changed[1] = true
        attempts[attempt] = true
        if counters ~= '-' then players[user] = counters end
      end
    end
    local refused = not prizes and (outcome == 'closed' or counters)
    decides = decides or prizes or refused
    if paid and refused then
      entry[#entry + 1] = 'play'
      entry[#entry + 1] = table.concat({ id, request, attempt, user, ARGV[2], '!', outcome }, ' ')
      attempts[attempt] = true
    end
    outcomes[#outcomes + 1] = outcome
  end

  if changed[1] then
    local write = { '#', draw.seq, '=', draw.state() }
    for user, counters in pairs(players) do
      write[#write + 1] = user
      write[#write + 1] = counters
    end
    local taken = {}
    for member in pairs(draw.taken) do taken[#taken + 1] = member end
    writes[#writes + 1] = { KEYS[key], write, KEYS[key + 1], taken }
  end
  key = key + 2
end

if starved then
  for i = 1, #outcomes do outcomes[i] = '?' end
  return { '', table.concat(outcomes, ' '), {} }
end
if decides then
--@include fence/lineage
end
local outcome = table.concat(outcomes, ' ')
if #entry == 0 then
  return { '', outcome, {} }
end
--@include fence/room
--@include fence/append
local scores = {}
for attempt in pairs(attempts) do
  scores[#scores + 1] = number
  scores[#scores + 1] = attempt
end
redis.call('ZADD', KEYS[2], unpack(scores))
for _, w in ipairs(writes) do
  redis.call('HSET', w[1], unpack(w[2]))
  if #w[4] > 0 then redis.call('ZREM', w[3], unpack(w[4])) end
end
local items = {}
for i = 2, #entry, 2 do items[#items + 1] = entry[i] end
return { number, outcome, items }

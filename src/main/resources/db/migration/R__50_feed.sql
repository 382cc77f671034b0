-- The groups' feeds: appending events of packets, draws and rains, and deleting old ones.

-- After this database went back in time: all feeds, also of groups without events, go on far beyond their earlier places. So a reader with
-- a lost place gets a reset, even when it returns late. Waits for current appends, whose places are before the new base.
create or replace function feeds_begin_anew() returns void
    language plpgsql
    security definer -- for the lock
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
as $$
begin
    lock table feed in share row exclusive mode;
    update outbox_state set feed_base = feed_base + 1000000000;
end
$$;
revoke execute on function feeds_begin_anew() from public;
grant execute on function feeds_begin_anew() to ${app};

create or replace function packet_is_unannounced() returns trigger
    language plpgsql
as $$
begin
    insert into unannounced (packet) select id from new_packets order by id;
    return null;
end
$$;

-- Locks groups' feeds until the transaction ends, in their order. Makes missing ones in the same order: a transaction that made one first
-- would hold it while it waits for an earlier one.
create or replace function lock_feeds(groups text[]) returns void
    language plpgsql
as $$
begin
    insert into feed (group_id) select distinct g from unnest(groups) as g order by g
    on conflict (group_id) do update set last = feed.last where false; -- locks the row, and changes nothing
end
$$;

-- Appends events, and packet.sent before an unannounced packet's first event. Locks the unannounced packets, then the feeds, each in order,
-- and nothing after them.
create or replace function feed_append(
    groups text[], types text[], subjects uuid[], claims integer[], winners jsonb[] default null, amounts bigint[] default null)
    returns void
    language plpgsql
    -- One plan for all calls, perhaps made while the tables are empty: planning takes longer than appending a few events.
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
    set enable_nestloop = off -- there may be many events of many groups
    set enable_hashjoin = on -- also within a settlement, which turns it off
as $$
declare
    new_packets constant uuid[] := array(select packet from unannounced where packet = any (subjects)
                                         order by packet for update);
begin
    delete from unannounced where packet = any (new_packets);
    perform lock_feeds(groups);

    with given as (
        select * from unnest(groups, types, subjects, claims, winners, amounts) with ordinality
                          as u(group_id, type, subject, claimed, wins, amount, n)
    ), events as (
        select *, row_number() over (partition by group_id order by n, stage) as nth
        from (select group_id, 'packet.sent' as type, subject, 0 as claimed, null::jsonb as wins, null::bigint as amount, min(n) as n, 0 as stage
              from given where subject = any (new_packets) group by group_id, subject
              union all
              select group_id, type, subject, claimed, wins, amount, n, 1
              from given
              -- Under the locks: progress after the packet's end is not new. Not exists: its plan may read all packets.
              where type <> 'packet.progress' or (select closed_at from packet where id = subject) is null) as e
    ), moved as (
        update feed
        set last = greatest(last, (select feed_base from outbox_state)) + e.events,
            floor = greatest(floor, (select feed_base from outbox_state)), touched = pg_current_xact_id()
        from (select group_id, count(*) as events from events group by group_id) as e
        where feed.group_id = e.group_id and feed.group_id = any (groups) -- else a join might read all feeds
        returning feed.group_id, feed.last - e.events as before
    )
    insert into group_event (group_id, seq, type, subject, claimed, wins, amount)
    select e.group_id, m.before + e.nth, e.type, e.subject, e.claimed, e.wins, e.amount
    from events as e join moved as m on m.group_id = e.group_id
    on conflict (subject, type, group_id) where type <> 'draw.won'
        do update set seq = excluded.seq, claimed = excluded.claimed, amount = excluded.amount, at = excluded.at
    where group_event.type in ('packet.progress', 'rain.caught') and group_event.claimed < excluded.claimed;
end
$$;

-- Announces packets that can be claimed; leaves announced ones alone. Locks like feed_append: the unannounced packets in the order of their
-- index, then the feeds. An unannounced packet has no event yet.
create or replace function feed_announce(packets uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
    set enable_nestloop = off -- there may be many packets of many groups
as $$
declare
    fresh  uuid[];
    groups text[];
begin
    with gone as (
        delete from unannounced where packet = any (packets) returning packet
    )
    select array_agg(g.packet), array_agg((select group_id from packet as p where p.id = g.packet)) into fresh, groups
    from gone as g;

    with fresh as (
        select group_id, packet, row_number() over (partition by group_id order by packet) as nth
        from unnest(groups, fresh) as u(group_id, packet)
    ), moved as (
        insert into feed (group_id, last, floor)
        select f.group_id, b.base + count(*), b.base
        from fresh as f, (select coalesce((select feed_base from outbox_state), 0) as base) as b
        group by f.group_id, b.base order by f.group_id
        on conflict (group_id) do update
            set last = greatest(feed.last, excluded.floor) + excluded.last - excluded.floor,
                floor = greatest(feed.floor, excluded.floor), touched = pg_current_xact_id()
        returning group_id, last
    )
    insert into group_event (group_id, seq, type, subject, claimed)
    select n.group_id, m.last - count(*) over (partition by n.group_id) + n.nth, 'packet.sent', n.packet, 0
    from fresh as n join moved as m on m.group_id = n.group_id;
end
$$;

-- Appends packet.progress for open packets with new claims. Not for the drops of a rain, known by their channel's name: rain.caught covers
-- all of them.
create or replace function feed_progress(packets uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    groups  text[];
    further uuid[];
    claims  integer[];
begin
    select array_agg(p.group_id order by g.id), array_agg(g.id order by g.id), array_agg(p.claimed order by g.id)
    into groups, further, claims
    from unnest(packets) as g(id)
    cross join lateral (select group_id, closed_at, (select a.claims from account as a where a.id = escrow) as claimed
                        from packet where id = g.id limit 1) as p
    where p.closed_at is null and p.group_id not like 'rain:%'
      and p.claimed > coalesce((select claimed from group_event where subject = g.id and type = 'packet.progress'), 0);
    if further is not null then
        perform feed_append(groups, array_fill('packet.progress'::text, array[cardinality(further)]), further, claims);
    end if;
end
$$;

-- Writes a packet's end to the feed, in the transaction that ends it. A rain's drop has only packet.drained; rain.ended stands for the
-- other drops. packet.expired is only for a packet whose time ran out. A due refund is reported when it is paid.
create or replace function packet_end_to_feed() returns trigger
    language plpgsql
    set enable_nestloop = off -- a settlement may end a thousand packets, with a plan made for one
    set enable_hashjoin = on -- also within a settlement, which turns it off
as $$
begin
    perform feed_append(array_agg(o.group_id order by o.id, o.stage), array_agg(o.type order by o.id, o.stage),
                        array_agg(o.id order by o.id, o.stage), array_agg(0))
    from (select n.id, n.group_id, e.type, e.stage
          from new_packets as n
          join old_packets as b on b.id = n.id and b.closed_at is null and n.closed_at is not null
          left join refund_due as d on d.packet = n.id
          cross join lateral (values ('packet.drained', 1, n.refund = 0),
                                     ('packet.expired', 1, n.refund > 0 and n.ending is null and n.group_id not like 'rain:%'),
                                     ('packet.refunded', 2, n.refund > 0 and d.packet is null and n.group_id not like 'rain:%')
                             ) as e(type, stage, holds)
          where e.holds) as o
    having count(*) > 0;
    return null;
end
$$;

-- Deletes at most `page` events older than `keep`, and as many beyond the newest `most` of groups changed since an xid, oldest first.
-- Appends to these groups wait meanwhile. Returns the number deleted.
create or replace function feed_trim(keep interval, most integer, since xid8, page integer) returns bigint
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $$
declare
    groups text[];
    seqs   bigint[];
    gone   bigint;
begin
    select array_agg(o.group_id), array_agg(o.seq) into groups, seqs
    from ((select e.group_id, e.seq from group_event as e where e.at < now() - keep order by e.at limit page)
          union
          (select f.group_id, o.seq
           from feed as f
           cross join lateral (select x.seq from group_event as x where x.group_id = f.group_id
                               order by x.seq desc offset most limit 1) as m
           cross join lateral (select x.seq from group_event as x where x.group_id = f.group_id and x.seq <= m.seq
                               order by x.seq limit page) as o
           where f.touched >= since and f.last - f.floor > most
             -- After a restore into a younger cluster, the xids of old changes lie in the future. Only a trim of all looks at them.
             and f.touched <= case when since = '0' then '18446744073709551615'::xid8 else pg_snapshot_xmax(pg_current_snapshot()) end
           limit page)) as o;
    perform from feed where group_id = any (groups) order by group_id for no key update;
    with removed as (
        -- Progress that has just moved to a new place is not deleted.
        delete from group_event as e
        using unnest(groups, seqs) as o(group_id, seq)
        where e.group_id = o.group_id and e.seq = o.seq
        returning e.group_id, e.seq
    ), raised as (
        update feed set floor = greatest(floor, r.seq)
        from (select group_id, max(seq) as seq from removed group by group_id) as r
        where feed.group_id = r.group_id
    )
    select count(*) from removed into gone;
    return gone;
end
$$;

create or replace function draw_to_feed() returns trigger
    language plpgsql
as $$
begin
    insert into draw_feed (draw, group_id, opens_at) values (new.id, new.group_id, new.opens_at);
    return null;
end
$$;

-- Appends new events of draws, each once: a second caller waits for the first, and finds nothing new. A draw's plays commit in the order of
-- their places (one shard, one writer), so `told` separates old from new plays.
--
-- A group gets at most one draw.won in `gap`, for all its draws: the number of a draw's wins and the newest twenty. Draws with an event take
-- turns, the longest silent first. So the number of events is bounded, and a win after a quiet time appears at once.
--
-- A draw that ends before it opens has no events, like such a packet.
--
-- Locks the rows of draw_feed, then the feeds, each in order, and nothing after them.
--
-- Returns the draws whose turn it is not; the caller asks again for them.
create or replace function feed_draws(draws uuid[], gap interval) returns uuid[]
    language plpgsql
as $$
declare
    waiting  uuid[];
    groups   text[];
    types    text[];
    subjects uuid[];
    counts   integer[];
    winners  jsonb[];
begin
    perform from draw_feed as f where f.draw = any (draws) order by f.draw for update;
    -- The next statement sees what other owners have told in these groups.
    perform lock_feeds(array(select f.group_id from draw_feed as f where f.draw = any (draws)));

    with asked as materialized (
        select d.id, d.group_id, f.told, f.told_at, f.opened,
               -- Plays are settled up to a minute before the opening, if this clock went back.
               not f.opened and (d.opens_at <= now()
                                 or exists (select from play as y where y.draw = f.draw and y.seq > f.told)) as opens,
               d.closed_at is not null as closes,
               exists (select from play as y join prize as z on z.draw = y.draw and z.n = y.prize
                       where y.draw = f.draw and y.seq > f.told and z.announced) as won
        from draw_feed as f join draw as d on d.id = f.draw
        where f.draw = any (draws)
    ), turns as materialized (
        select f.*,
               not closes and (opens or won)
               and (row_number() over (partition by group_id, closes, opens or won order by told_at, id) > 1
                    -- A later time is of a clock that went back.
                    or exists (select from draw_feed as g where g.group_id = f.group_id
                               and g.told_at > now() - gap and g.told_at < now() + gap)) as waits
        from asked as f
    ), fresh as materialized (
        select f.id, f.group_id, p.upto, p.wins, w.newest, f.opened, f.opens, f.closes
        from turns as f
        cross join lateral (select max(y.seq) as upto, count(*) filter (where z.announced)::integer as wins
                            from play as y join prize as z on z.draw = y.draw and z.n = y.prize
                            where y.draw = f.id and y.seq > f.told) as p
        cross join lateral (select jsonb_agg(jsonb_build_object('seq', n.seq, 'user', n.user_id, 'prize', n.prize)
                                             order by n.seq) as newest
                            from (select y.seq, y.user_id, y.prize
                                  from play as y join prize as z on z.draw = y.draw and z.n = y.prize
                                  where y.draw = f.id and y.seq > f.told and z.announced
                                  order by y.seq desc limit 20) as n) as w
        where not f.waits
    ), noted as (
        update draw_feed as f
        set opened = f.opened or n.opens, told = coalesce(n.upto, f.told),
            told_at = case when n.wins > 0 then now() else f.told_at end
        from fresh as n
        where f.draw = n.id and not n.closes and (n.opens or n.upto is not null)
    ), gone as (
        delete from draw_feed as f using fresh as n where f.draw = n.id and n.closes
    )
    select array(select t.id from turns as t where t.waits),
           array_agg(n.group_id order by n.id, e.stage), array_agg(e.type order by n.id, e.stage),
           array_agg(n.id order by n.id, e.stage), array_agg(e.wins order by n.id, e.stage),
           array_agg(e.newest order by n.id, e.stage)
    into waiting, groups, types, subjects, counts, winners
    from fresh as n
    cross join lateral (values ('draw.opened', 1, 0, null::jsonb, n.opens),
                               ('draw.won', 2, n.wins, n.newest, n.wins > 0),
                               ('draw.closed', 3, 0, null, n.closes and (n.opened or n.opens))) as e(type, stage, wins, newest, holds)
    where e.holds;

    if groups is not null then
        perform feed_append(groups, types, subjects, counts, winners);
    end if;
    return waiting;
end
$$;

-- Writes a draw's end to the feed, after its last wins, in the transaction that ends it.
create or replace function draw_end_to_feed() returns trigger
    language plpgsql
as $$
begin
    perform feed_draws(array_agg(n.id), interval '0')
    from new_draws as n join old_draws as o on o.id = n.id and o.closed_at is null
    where n.closed_at is not null and n.group_id is not null
    having count(*) > 0;
    return null;
end
$$;

-- The feeds for a rain's own events: its groups and its channel.
create or replace function rain_feeds(of_rain uuid) returns setof text
    language sql
    stable
begin atomic
    select unnest(r.groups || r.channel) from rain as r where r.id = of_rain;
end;

-- Appends new events of current rains: rain.started, and rain.caught at most once in `gap` for each.
--
-- Returns the fallen drops that are not announced, and whether an event was appended.
--
-- Locks the rains' rows, then the feeds, each in order, and nothing after them.
create or replace function feed_rains(of_shards smallint[], gap interval, out fallen uuid[], out told boolean)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $$
declare
    going    uuid[];
    feeds    text[];
    types    text[];
    subjects uuid[];
    counts   integer[];
    amounts  bigint[];
begin
    going := array(select r.id from rain as r join campaign as c on c.id = r.id
                   where not r.ended and r.starts_at <= now() and c.shard = any (of_shards));
    told := false;
    if going = '{}' then
        fallen := going;
        return;
    end if;

    -- Only rains with news: this call comes ten times a second, and each lock writes to its row.
    perform from rain as r where r.id = any (going) and (not r.started or r.told_at <= now() - gap) order by r.id for no key update;
    if found then
        -- A statement of its own, so that it sees commits during the wait.
        with fresh as materialized (
            select r.id, r.channel, not r.started as starts, s.caught, s.amount,
                   s.caught is not null as counted, coalesce(s.caught > r.caught, false) as more
            from rain as r
            left join lateral (select * from rain_catches(r.id) where r.told_at <= now() - gap) as s on true
            where r.id = any (going) and not r.ended
        ), noted as (
            update rain as r
            set started = true, caught = case when n.more then n.caught else r.caught end,
                told_at = case when n.counted then now() else r.told_at end
            from fresh as n where r.id = n.id and (n.starts or n.counted)
        ), events as (
            select f.feed, 'rain.started' as type, n.id, 0 as caught, null::bigint as amount, 1 as stage
            from fresh as n cross join lateral rain_feeds(n.id) as f(feed) where n.starts
            union all
            select n.channel, 'rain.caught', n.id, n.caught, n.amount, 2 from fresh as n where n.more
        )
        select array_agg(t.feed order by t.id, t.stage), array_agg(t.type order by t.id, t.stage),
               array_agg(t.id order by t.id, t.stage), array_agg(t.caught order by t.id, t.stage),
               array_agg(t.amount order by t.id, t.stage)
        into feeds, types, subjects, counts, amounts
        from events as t;
        told := feeds is not null;
        if told then
            perform feed_append(feeds, types, subjects, counts, null, amounts);
        end if;
    end if;

    -- Drops that never fall have expired: see cancel_rain.
    fallen := array(select u.packet from pool as o join unannounced as u on u.packet = o.packet join packet as p on p.id = o.packet
                    where o.campaign = any (going) and p.opens_at <= now() and p.expires_at > now() and p.closed_at is null
                    order by p.opens_at limit 500);
end
$$;

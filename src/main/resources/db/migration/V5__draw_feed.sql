-- What the groups' feeds tell of draws: draw.opened, draw.won, draw.closed.

-- Draws of groups whose end is not told yet, and how much of them is told.
create table draw_feed (
    draw     uuid primary key references draw,
    group_id text        not null,
    opens_at timestamptz not null,
    opened   boolean     not null default false, -- draw.opened is told
    told     bigint      not null default -1, -- plays up to this place in the draw are told
    told_at  timestamptz not null default '-infinity' -- of the latest draw.won
) with (fillfactor = 70);
create index draw_feed_unopened on draw_feed (opens_at) where not opened;
create index draw_feed_told on draw_feed (group_id, told_at);

create function draw_to_feed() returns trigger
    language plpgsql
as $$
begin
    insert into draw_feed (draw, group_id, opens_at) values (new.id, new.group_id, new.opens_at);
    return null;
end
$$;

create trigger draw_to_feed
    after insert on draw
    for each row when (new.group_id is not null) execute function draw_to_feed();

-- Tells what is new of draws, each thing once: who comes second waits for the first, and finds nothing left to tell. Plays of a
-- draw commit in the order of their places (one shard, one writer), so what is after `told` is exactly what is untold.
--
-- A group has one draw.won in `gap`, whatever is won in however many draws: how many wins of a draw there were, and who had the
-- newest twenty; its draws take turns, the longest untold first. So draws add a bounded number of events to a feed, and a win
-- after a quiet time is told at once.
--
-- Locks: the draws' rows here, then the feeds, each in order; nothing is locked after them.
-- Returns the draws whose turn it is not: they are to be asked for again.
create function feed_draws(draws uuid[], gap interval) returns uuid[]
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
    waiting := array(select w.draw
                     from (select f.draw, row_number() over (partition by f.group_id order by f.told_at, f.draw) as nth,
                                  exists (select from draw_feed as g
                                          where g.group_id = f.group_id and g.told_at > now() - gap) as lately
                           from draw_feed as f join draw as d on d.id = f.draw
                           where f.draw = any (draws) and d.closed_at is null) as w
                     where w.lately or w.nth > 1);

    with news as materialized (
        select d.id, d.group_id, p.upto, p.wins, w.newest,
               not f.opened and d.opens_at <= now() as opens,
               d.closed_at is not null as closes
        from draw_feed as f
        join draw as d on d.id = f.draw
        cross join lateral (select max(y.seq) as upto, count(*) filter (where z.announced)::integer as wins
                            from play as y join prize as z on z.draw = y.draw and z.n = y.prize
                            where y.draw = f.draw and y.seq > f.told) as p
        cross join lateral (select jsonb_agg(jsonb_build_object('seq', n.seq, 'user', n.user_id, 'prize', n.prize)
                                             order by n.seq) as newest
                            from (select y.seq, y.user_id, y.prize
                                  from play as y join prize as z on z.draw = y.draw and z.n = y.prize
                                  where y.draw = f.draw and y.seq > f.told and z.announced
                                  order by y.seq desc limit 20) as n) as w
        where f.draw = any (draws) and f.draw <> all (waiting)
    ), noted as (
        update draw_feed as f
        set opened = f.opened or n.opens, told = coalesce(n.upto, f.told),
            told_at = case when n.wins > 0 then now() else f.told_at end
        from news as n
        where f.draw = n.id and not n.closes and (n.opens or n.upto is not null)
    ), gone as (
        delete from draw_feed as f using news as n where f.draw = n.id and n.closes
    )
    select array_agg(n.group_id order by n.id, e.stage), array_agg(e.type order by n.id, e.stage),
           array_agg(n.id order by n.id, e.stage), array_agg(e.wins order by n.id, e.stage),
           array_agg(e.newest order by n.id, e.stage)
    into groups, types, subjects, counts, winners
    from news as n
    cross join lateral (values ('draw.opened', 1, 0, null::jsonb, n.opens),
                               ('draw.won', 2, n.wins, n.newest, n.wins > 0),
                               ('draw.closed', 3, 0, null, n.closes)) as e(type, stage, wins, newest, holds)
    where e.holds;

    if groups is not null then
        perform feed_append(groups, types, subjects, counts, winners);
    end if;
    return waiting;
end
$$;

-- A draw's end goes into the feed in the transaction that ends it, after its last wins.
create function draw_end_to_feed() returns trigger
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

create trigger draw_end_to_feed
    after update on draw
    referencing old table as old_draws new table as new_draws
    for each statement execute function draw_end_to_feed();

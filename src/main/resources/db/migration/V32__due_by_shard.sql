-- What is due is looked for shard by shard: a page over all shards was filled by one that could not settle, and the others waited behind it.
drop index packet_due;
create index packet_due on packet (shard, expires_at) where closed_at is null;
create index draw_due on draw (closes_at) where closed_at is null; -- with many open draws each look read them all

-- A draw may be ended before it opens: it is over at once, and what is in its escrows goes back. Before, its end was only brought forward to
-- just after its opening, so that its money stayed locked until then, and whoever played in that moment could still win.

alter table draw drop constraint draw_check; -- opens_at < closes_at, which holds of every draw that is made; DefinitionRules checks it

update draw set closes_at = now()
where closed_at is null and opens_at > now() and closes_at = opens_at + interval '1 microsecond'
  and closes_at < (definition ->> 'closesAt')::timestamptz;

-- As in V5. A draw that ends before it opens is never heard of, as a packet.
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
    waiting := array(select w.draw
                     from (select f.draw, row_number() over (partition by f.group_id order by f.told_at, f.draw) as nth,
                                  exists (select from draw_feed as g
                                          where g.group_id = f.group_id and g.told_at > now() - gap) as lately
                           from draw_feed as f join draw as d on d.id = f.draw
                           where f.draw = any (draws) and d.closed_at is null) as w
                     where w.lately or w.nth > 1);

    with news as materialized (
        select d.id, d.group_id, p.upto, p.wins, w.newest,
               f.opened, not f.opened and d.opens_at <= now() as opens,
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
                               ('draw.closed', 3, 0, null, n.closes and (n.opened or n.opens))) as e(type, stage, wins, newest, holds)
    where e.holds;

    if groups is not null then
        perform feed_append(groups, types, subjects, counts, winners);
    end if;
    return waiting;
end
$$;

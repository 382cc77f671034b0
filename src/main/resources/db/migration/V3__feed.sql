-- The groups' feeds: what happened, in an order of each group's own, for as long as a client may have been away.

-- One row a group. Who appends holds it until the commit, so places are given in the order of commits: a reader that has
-- seen a place has seen, or will never see, every place before it.
create table feed (
    group_id text   primary key,
    last     bigint not null default 0, -- the place of the newest event
    floor    bigint not null default 0, -- events up to here may have been removed
    -- Who changed it last. What was committed after a snapshot was taken has an xid of at least that snapshot's xmin: so
    -- "which groups have news?" is one look into this index, however many groups there are.
    touched  xid8   not null default pg_current_xact_id()
) with (fillfactor = 70);
create index feed_touched on feed (touched);

-- After this database went back in time: every feed goes on far beyond any place that it gave before, so that a reader with a
-- place of the time that is lost is told to begin anew, also when it comes back late. Again and again is once.
create function feeds_begin_anew() returns void
    language plpgsql
as $$
begin
    perform from feed where last > floor order by group_id for no key update;
    update feed set last = last + 1000000000, floor = last + 1000000000, touched = pg_current_xact_id() where last > floor;
end
$$;

-- Only what is needed to tell the event: a packet's terms, its claims and its end, and a draw's terms, are read where they are.
create table group_event (
    group_id text        not null,
    seq      bigint      not null check (seq > 0),
    type     text        not null,
    subject  uuid        not null, -- the packet, the draw or the rain
    claimed  integer     not null check (claimed >= 0), -- settled claims, for packet.progress, rain.caught and rain.ended; wins, for draw.won
    amount   bigint, -- of settled claims, minor units, for rain.caught and rain.ended
    wins     jsonb, -- for draw.won, the newest of them: [{seq, user, prize}]
    at       timestamptz not null default now(),
    primary key (group_id, seq)
);
-- Progress is cumulative: it moves to a new place and leaves the old one. A rain is told in several groups.
create unique index group_event_once on group_event (subject, type, group_id) where type <> 'draw.won';
create index group_event_at on group_event (at);

create index packet_group on packet (group_id, id);

-- Packets that are sent but may not be claimable yet: packet.sent follows the load.
create table unannounced (
    packet  uuid primary key,
    sent_at timestamptz not null default now()
);

create function packet_is_unannounced() returns trigger
    language plpgsql
as $$
begin
    insert into unannounced (packet) select id from new_packets order by id;
    return null;
end
$$;

create trigger packet_is_unannounced
    after insert on packet
    referencing new table as new_packets
    for each statement execute function packet_is_unannounced();

-- Appends events, and packet.sent before the first event of a packet that is not announced yet. A null type announces only.
-- Locks: first the unannounced packets, then the feeds, each in order; nothing is locked after them.
create function feed_append(
    groups text[], types text[], subjects uuid[], claims integer[], winners jsonb[] default null, amounts bigint[] default null)
    returns void
    language plpgsql
    -- The plans are made once, maybe while the tables are still empty: to make them takes longer than to append a few events.
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
    set enable_nestloop = off -- many events may be of many groups
    set enable_hashjoin = on -- also within a settlement, which does its own work without
as $$
declare
    new_packets constant uuid[] := array(select packet from unannounced where packet = any (subjects)
                                         order by packet for update);
begin
    delete from unannounced where packet = any (new_packets);
    insert into feed (group_id) select distinct g from unnest(groups) as g order by g on conflict do nothing;
    perform from feed where group_id = any (groups) order by group_id for no key update;

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
              -- Under the locks: progress that comes after the packet's end is no news. Not by exists: a plan may read all packets for that.
              where type is not null
                and (type <> 'packet.progress' or (select closed_at from packet where id = subject) is null)) as e
    ), moved as (
        update feed set last = last + e.events, touched = pg_current_xact_id()
        from (select group_id, count(*) as events from events group by group_id) as e
        where feed.group_id = e.group_id and feed.group_id = any (groups) -- else a join might read the feeds of all groups
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

-- Announces packets that can be claimed by now; those announced before are left alone. As feed_append does for a null type, and with
-- its locks: the unannounced packets in the order of the index that they are found by, then the feeds. A packet that is not announced
-- has no event yet.
create function feed_announce(packets uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
    set enable_nestloop = off -- many packets may be of many groups
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

    with news as (
        select group_id, packet, row_number() over (partition by group_id order by packet) as nth
        from unnest(groups, fresh) as u(group_id, packet)
    ), moved as (
        insert into feed (group_id, last) select group_id, count(*) from news group by group_id order by group_id
        on conflict (group_id) do update set last = feed.last + excluded.last, touched = pg_current_xact_id()
        returning group_id, last
    )
    insert into group_event (group_id, seq, type, subject, claimed)
    select n.group_id, m.last - count(*) over (partition by n.group_id) + n.nth, 'packet.sent', n.packet, 0
    from news as n join moved as m on m.group_id = n.group_id;
end
$$;

-- Tells how far open packets have come, those that have come further than was told. Not the drops of a rain, whose channel's name says
-- what they are: rain.caught tells of all of them.
create function feed_progress(packets uuid[]) returns void
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
    select array_agg(p.group_id order by g.id), array_agg(g.id order by g.id), array_agg(c.claimed order by g.id)
    into groups, further, claims
    from unnest(packets) as g(id)
    cross join lateral (select group_id, closed_at from packet where id = g.id limit 1) as p
    -- Slots are handed out without gaps, so the highest one counts the claims in one step down the index.
    cross join lateral (select (select max(slot) + 1 from transfer where subject = g.id and slot is not null) as claimed) as c
    where p.closed_at is null and p.group_id not like 'rain:%'
      and c.claimed > coalesce((select claimed from group_event where subject = g.id and type = 'packet.progress'), 0);
    if further is not null then
        perform feed_append(groups, array_fill('packet.progress'::text, array[cardinality(further)]), further, claims);
    end if;
end
$$;

-- A packet's end goes into the feed in the transaction that ends it. Of a rain's drops only what drains them: the rest end with the
-- rain, together, and rain.ended tells it. packet.expired is told only of one whose time ran out.
create function packet_end_to_feed() returns trigger
    language plpgsql
    set enable_nestloop = off -- a settlement may end a thousand packets, and a plan made for one is kept
    set enable_hashjoin = on -- also within a settlement, which does its own work without
as $$
begin
    perform feed_append(array_agg(o.group_id order by o.id, o.stage), array_agg(o.type order by o.id, o.stage),
                        array_agg(o.id order by o.id, o.stage), array_agg(0))
    from (select n.id, n.group_id, e.type, e.stage
          from new_packets as n
          join old_packets as b on b.id = n.id and b.closed_at is null and n.closed_at is not null
          cross join lateral (values ('packet.drained', 1, n.refund = 0),
                                     ('packet.expired', 1, n.refund > 0 and n.ending is null and n.group_id not like 'rain:%'),
                                     ('packet.refunded', 2, n.refund > 0 and n.group_id not like 'rain:%')) as e(type, stage, holds)
          where e.holds) as o
    having count(*) > 0;
    return null;
end
$$;

create trigger packet_end_to_feed
    after update on packet
    referencing old table as old_packets new table as new_packets
    for each statement execute function packet_end_to_feed();

-- Removes at most `page` events that are older than `keep`, and as many that are beyond the newest `most` of the groups that were changed
-- since an xid; the oldest first. Who appends to these groups waits meanwhile. Returns how many events are gone.
create function feed_trim(keep interval, most integer, since xid8, page integer) returns bigint
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
           limit page)) as o;
    perform from feed where group_id = any (groups) order by group_id for no key update;
    with removed as (
        -- Progress that has moved to a new place meanwhile is not here any more.
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

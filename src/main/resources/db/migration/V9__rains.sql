-- Rains (红包雨): a campaign whose pools, the drops, the server itself opens, each at a moment drawn beforehand. A drop is a packet: it is
-- sent by send_packets when the rain is made, opens at its moment, is claimed, closed and refunded as every packet is. Money, limits
-- and the end are the campaign's; its opens_at is when it was made, since all its pools are sent then.

create table rain (
    id         uuid primary key references campaign,
    channel    text        not null check (channel = 'rain:' || id::text), -- the group of its drops
    public     boolean     not null, -- whether everybody may see and claim them
    groups     text[]      not null, -- else the members of these
    starts_at  timestamptz not null,
    last_at    timestamptz not null, -- drops fall before it
    ends_at    timestamptz not null, -- as planned: a campaign's end is brought forward when it is cancelled
    drops      integer     not null check (drops > 0),
    seed       bytea       not null check (length(seed) = 32), -- of the moments; told to nobody before the end
    commitment bytea       not null,
    cancelled_at timestamptz,
    -- What is told in the feeds.
    started    boolean     not null default false,
    caught     integer     not null default 0,
    told_at    timestamptz not null default '-infinity', -- of the latest count
    ended      boolean     not null default false,
    check (public = (groups = '{}')),
    check (starts_at < last_at and last_at < ends_at),
    constraint rain_is_committed check (commitment = sha256((
        'hongbao-rain-v1' || e'\n' || 'id=' || id::text || e'\n' || 'seed=' || encode(seed, 'hex') || e'\n'
        || 'from=' || round(extract(epoch from starts_at) * 1000)::bigint::text || e'\n'
        || 'to=' || round(extract(epoch from last_at) * 1000)::bigint::text || e'\n'
        || 'drops=' || drops::text || e'\n')::bytea))
) with (fillfactor = 70);
create index rain_going on rain (starts_at) where not ended;

-- Shares of a rain that are caught and settled; and the amount of those on drops that are over, in minor units. Not of an open drop: its
-- last share is the total less the rest.
create function rain_catches(of_rain uuid, out caught integer, out amount bigint)
    language sql
    stable
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $$
    select coalesce(sum(case when p.closed_at is not null and p.refund = 0 then p.count else c.claims end), 0)::integer,
           coalesce(sum(p.amount - p.refund) filter (where p.closed_at is not null), 0)::bigint
    from pool as o
    join packet as p on p.id = o.packet
    -- Slots are handed out without gaps, so the highest one counts the claims.
    cross join lateral (select coalesce(max(t.slot) + 1, 0) as claims from transfer as t
                        where t.subject = p.id and t.slot is not null) as c
    where o.campaign = of_rain
$$;

-- Whether rains of some shards are under way, or soon will be.
create function rains_going(of_shards smallint[], soon interval) returns boolean
    language sql
    stable
return exists (select from rain as r join campaign as c on c.id = r.id
               where not r.ended and r.starts_at <= now() + soon and c.shard = any (of_shards));

-- Where what concerns all of a rain is told.
create function rain_feeds(of_rain uuid) returns setof text
    language sql
    stable
begin atomic
    select unnest(r.groups || r.channel) from rain as r where r.id = of_rain;
end;

-- Tells what is new of rains that are under way: that they have begun, and, counted at most once in `gap` each, how much is caught.
-- Gives the drops that have fallen and are not announced; and whether anything was told.
--
-- Locks: the rains' rows, then the feeds, each in order; nothing is locked after them.
create function feed_rains(of_shards smallint[], gap interval, out fallen uuid[], out told boolean)
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

    -- Only those of which there is something to tell: this is called ten times a second, and a lock is written down.
    perform from rain as r where r.id = any (going) and (not r.started or r.told_at <= now() - gap) order by r.id for no key update;
    if found then
        -- By a statement of its own: it sees what was committed while it waited.
        with news as materialized (
            select r.id, r.channel, not r.started as starts, s.caught, s.amount,
                   s.caught is not null as counted, coalesce(s.caught > r.caught, false) as more
            from rain as r
            left join lateral (select * from rain_catches(r.id) where r.told_at <= now() - gap) as s on true
            where r.id = any (going) and not r.ended
        ), noted as (
            update rain as r
            set started = true, caught = case when n.more then n.caught else r.caught end,
                told_at = case when n.counted then now() else r.told_at end
            from news as n where r.id = n.id and (n.starts or n.counted)
        ), events as (
            select f.feed, 'rain.started' as type, n.id, 0 as caught, null::bigint as amount, 1 as stage
            from news as n cross join lateral rain_feeds(n.id) as f(feed) where n.starts
            union all
            select n.channel, 'rain.caught', n.id, n.caught, n.amount, 2 from news as n where n.more
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

    -- A drop that never falls has expired: see cancel_rain.
    fallen := array(select u.packet from pool as o join unannounced as u on u.packet = o.packet join packet as p on p.id = o.packet
                    where o.campaign = any (going) and p.opens_at <= now() and p.expires_at > now() and p.closed_at is null
                    order by p.opens_at limit 500);
end
$$;

-- A drop is announced at its moment and not before; should its server be gone by then, by whoever looks for packets of which nobody heard.
-- Then tells of the new rain, as the last thing of the transaction that makes it.
create function announce_rain(of_rain uuid) returns void
    language plpgsql
as $$
begin
    update unannounced as u set sent_at = p.opens_at
    from pool as o join packet as p on p.id = o.packet
    where u.packet = o.packet and o.campaign = of_rain;
    perform feed_append(array_agg(f.feed), array_agg('rain.announced'::text), array_agg(of_rain), array_agg(0))
    from rain_feeds(of_rain) as f(feed);
end
$$;

-- Cancels a rain before its end; idempotent. Drops that have not fallen never fall: their opening is just before the cancelling.
create function cancel_rain(of_rain uuid) returns void
    language plpgsql
as $$
declare
    never uuid[];
begin
    perform end_campaign(of_rain);
    update rain as r set cancelled_at = c.ends_at
    from campaign as c
    where r.id = of_rain and c.id = r.id and r.cancelled_at is null and c.ends_at < r.ends_at;
    if found then
        -- At once, and all of them: there are at most 500 drops. Nobody else ends them before this is committed.
        perform end_pools(array[of_rain], 500);
        -- And nobody announces what never falls.
        never := array(select u.packet from rain as r join pool as o on o.campaign = r.id
                       join packet as p on p.id = o.packet and p.opens_at >= r.cancelled_at - interval '1 microsecond'
                       join unannounced as u on u.packet = o.packet
                       where r.id = of_rain order by u.packet for update of u);
        delete from unannounced where packet = any (never);
    end if;
end
$$;

-- Whether a drop has fallen.
create function has_fallen(opens_at timestamptz, cancelled_at timestamptz) returns boolean
    language sql
    stable
return opens_at <= now() and (cancelled_at is null or opens_at < cancelled_at - interval '1 microsecond');

-- Some packets are about to be ended early, those with an ending. A drop among them that has not been announced never is: who announces
-- a packet loads it, too. Locks: the packets, then what is unannounced, each in order, as cancel_rain does.
create function drops_never_fall(packets uuid[], endings text[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    drops constant uuid[] := array(
        select p.id from unnest(packets, endings) as g(id, ending) join packet as p on p.id = g.id
        where g.ending is not null and p.group_id like 'rain:%');
begin
    perform from packet where id = any (packets) order by id for no key update; -- all: the settlement locks the others, too
    perform from unannounced where packet = any (drops) order by packet for update;
    delete from unannounced where packet = any (drops);
end
$$;

-- A rain's end goes into the feeds and the outbox in the transaction that ends it. What is not announced by then never is.
create function rain_ends() returns trigger
    language plpgsql
as $$
declare
    over constant uuid[] := array(select n.id from new_campaigns as n
                                  join old_campaigns as o on o.id = n.id and o.closed_at is null
                                  where n.closed_at is not null and n.kind = 'rain' order by n.id);
begin
    if over = '{}' then
        return null;
    end if;
    perform from rain where id = any (over) order by id for no key update;
    update rain set ended = true where id = any (over);
    insert into outbox (shard, type, subjects, events) values (-1, 'rain.ended', over, cardinality(over));
    perform from unannounced as u where u.packet in (select packet from pool where campaign = any (over)) order by u.packet for update;
    delete from unannounced as u using pool as o where u.packet = o.packet and o.campaign = any (over);
    perform feed_append(array_agg(f.feed order by r.id), array_agg('rain.ended'::text), array_agg(r.id order by r.id),
                        array_agg(s.caught order by r.id), null, array_agg(s.amount order by r.id))
    from rain as r cross join lateral rain_catches(r.id) as s cross join lateral rain_feeds(r.id) as f(feed)
    where r.id = any (over);
    return null;
end
$$;

create trigger rain_ends
    after update on campaign
    referencing old table as old_campaigns new table as new_campaigns
    for each statement execute function rain_ends();

create function rain_to_outbox() returns trigger
    language plpgsql
as $$
begin
    insert into outbox (shard, type, subjects, events) values (-1, 'rain.created', array[new.id], 1);
    return null;
end
$$;

create trigger rain_to_outbox
    after insert on rain
    for each row execute function rain_to_outbox();

-- As outbox_events, which asks it.
create function rain_events(of_type text, of_shards smallint[], ns bigint[])
    returns table (n bigint, subject uuid, at text, data text)
    language sql
    stable
as $$
    select o.n, r.id, outbox_time(o.at),
           case of_type
               when 'rain.created' then json_build_object(
                   'rain', r.id, 'host', c.host, 'name', c.name, 'asset', c.asset, 'budget', c.budget, 'public', r.public,
                   'groups', r.groups, 'channel', r.channel, 'drops', r.drops, 'startsAt', outbox_time(r.starts_at),
                   'endsAt', outbox_time(r.ends_at))
               else json_build_object(
                   'rain', r.id, 'host', c.host, 'name', c.name, 'asset', c.asset, 'budget', c.budget,
                   'cancelled', r.cancelled_at is not null, 'caught', s.caught, 'amount', s.amount, 'returned', c.returned)
           end::text
    from unnest(of_shards, ns) as g(shard, n)
    join outbox as o on o.shard = g.shard and o.n = g.n
    cross join lateral unnest(o.subjects) with ordinality as u(subject, place)
    join rain as r on r.id = u.subject
    join campaign as c on c.id = r.id
    left join lateral (select * from rain_catches(r.id) where of_type = 'rain.ended') as s on true
    order by o.n, u.place
$$;

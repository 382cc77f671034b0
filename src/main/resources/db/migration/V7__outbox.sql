-- News for the host application: the outbox. Every fact that is settled is told once, by the row of the statement that settled it.
--
-- The triggers below write the rows, so nobody can move money, end a packet or settle a play and forget to tell. A row names facts and
-- holds none: the books are read when it is told.

create table outbox (
    -- Its place. The facts of a shard are settled under the lock of the shard's row, so its rows commit in the order of n. -1: of no
    -- shard (sends, deposits, withdrawals, reversals, holds), which commit in any order: see OutboxHead.
    shard    smallint    not null check (shard >= -1),
    n        bigint      generated always as identity,
    id       uuid        not null default gen_random_uuid(), -- its events' ids begin with it; a restored database draws others
    type     text        not null,
    subjects uuid[]      not null, -- packets, draws or commands
    firsts   bigint[], -- of each subject: its first slot or play, or its transfer; null when the subject says it all
    lasts    bigint[], -- and the last one
    events   integer     not null check (events > 0),
    at       timestamptz not null default now(),
    primary key (shard, n)
);
-- Too large for a row only when many packets are settled at once; then to compress them costs more than to write them.
alter table outbox
    alter column subjects set storage external,
    alter column firsts set storage external,
    alter column lasts set storage external;

-- One row, made at the first start as the installation's is. A cursor of another era is of a history that this database has lost.
create table outbox_state (
    one   boolean primary key default true check (one),
    era   uuid    not null default gen_random_uuid(),
    floor bigint  not null default 0 -- rows up to here may have been removed
);

-- After this database went back in time: who reads on from a cursor of the time that is lost is told all that is kept, again.
create function outbox_begins_anew() returns void
    language sql
as $$
    update outbox_state set era = gen_random_uuid()
$$;

-- A statement makes claims, or it makes no claims.
create function transfer_to_outbox() returns trigger
    language plpgsql
    -- The plan is made once, maybe while the tables are still empty.
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    if exists (select from inserted where slot is not null) then
        insert into outbox (shard, type, subjects, firsts, lasts, events)
        select p.shard, 'claim.settled', array_agg(c.subject), array_agg(c.first), array_agg(c.last), sum(c.last - c.first + 1)
        from (select subject, min(slot) as first, max(slot) as last from inserted where slot is not null group by subject) as c
        join packet as p on p.id = c.subject
        group by p.shard;
    else
        insert into outbox (shard, type, subjects, firsts, lasts, events)
        select t.shard, t.type, array_agg(t.subject order by t.id), array_agg(t.id order by t.id), array_agg(t.id order by t.id), count(*)
        from (select i.subject, i.id,
                     case i.kind when 'send' then 'packet.sent' else 'transfer.' || i.kind end as type,
                     case i.kind when 'return' then (select d.shard from draw as d where d.id = i.subject) else -1 end as shard
              from inserted as i
              where i.kind in ('send', 'deposit', 'withdrawal', 'cost', 'return', 'reversal')
                -- Not the drops of a rain: who hears of them knows their moments. rain.created tells what is paid for all of them.
                and not exists (select from campaign as c where c.escrow = i.debit and c.kind = 'rain')
              union all
              select i.subject, i.id, fund_news(i.subject, i.id), -1 from inserted as i where i.kind = 'fund') as t
        where t.type is not null
        group by t.shard, t.type;
    end if;
    return null;
end
$$;

create trigger transfer_to_outbox
    after insert on transfer
    referencing new table as inserted
    for each statement execute function transfer_to_outbox();

create function play_to_outbox() returns trigger
    language plpgsql
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    insert into outbox (shard, type, subjects, firsts, lasts, events)
    select d.shard, 'play.settled', array_agg(p.draw), array_agg(p.first), array_agg(p.last), sum(p.last - p.first + 1)
    from (select draw, min(seq) as first, max(seq) as last from inserted group by draw) as p
    join draw as d on d.id = p.draw
    group by d.shard;
    return null;
end
$$;

create trigger play_to_outbox
    after insert on play
    referencing new table as inserted
    for each statement execute function play_to_outbox();

create function packet_end_to_outbox() returns trigger
    language plpgsql
    set enable_nestloop = off -- a settlement may end a thousand packets, and a plan made for one is kept
    set enable_hashjoin = on -- also within a settlement, which does its own work without
as $$
begin
    insert into outbox (shard, type, subjects, events)
    select n.shard, case when n.refund > 0 then 'packet.refunded' else 'packet.drained' end, array_agg(n.id order by n.id), count(*)
    from new_packets as n join old_packets as o on o.id = n.id and o.closed_at is null
    where n.closed_at is not null
    group by 1, 2;
    return null;
end
$$;

create trigger packet_end_to_outbox
    after update on packet
    referencing old table as old_packets new table as new_packets
    for each statement execute function packet_end_to_outbox();

create function draw_end_to_outbox() returns trigger
    language plpgsql
    set enable_nestloop = off
    set enable_hashjoin = on
as $$
begin
    insert into outbox (shard, type, subjects, events)
    select n.shard, 'draw.closed', array_agg(n.id order by n.id), count(*)
    from new_draws as n join old_draws as o on o.id = n.id and o.closed_at is null
    where n.closed_at is not null
    group by n.shard;
    return null;
end
$$;

create trigger draw_end_to_outbox
    after update on draw
    referencing old table as old_draws new table as new_draws
    for each statement execute function draw_end_to_outbox();

-- A time as RFC 3339 writes it.
create function outbox_time(at timestamptz) returns text
    language sql
    stable
return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');

-- The events of one type in rows of the outbox, read from the books, in the order of the rows; within a row always in the same order.
create function outbox_events(of_type text, of_shards smallint[], ns bigint[])
    returns table (n bigint, subject uuid, at text, data text)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    if of_type = 'claim.settled' then
        return query
            select o.n, t.subject, outbox_time(t.at),
                   json_build_object('packet', t.subject, 'group', p.group_id, 'user', w.owner, 'slot', t.slot,
                                     'asset', w.asset, 'amount', t.amount, 'transfer', t.id::text)::text
            from unnest(of_shards, ns) as g(shard, n)
            join outbox as o on o.shard = g.shard and o.n = g.n
            cross join lateral unnest(o.subjects, o.firsts, o.lasts) with ordinality as s(subject, first, last, place)
            join packet as p on p.id = s.subject
            join transfer as t on t.subject = s.subject and t.slot is not null and t.slot between s.first and s.last
            join account as w on w.id = t.credit
            order by o.n, s.place, t.slot;
    elsif of_type = 'play.settled' then
        return query
            select o.n, y.draw, outbox_time(y.at),
                   json_build_object('draw', y.draw, 'group', d.group_id, 'user', y.user_id, 'seq', y.seq, 'request', y.request,
                                     'number', y.prize, 'prize', z.name, 'asset', e.asset,
                                     'amount', case when e.asset is not null then z.amount end)::text
            from unnest(of_shards, ns) as g(shard, n)
            join outbox as o on o.shard = g.shard and o.n = g.n
            cross join lateral unnest(o.subjects, o.firsts, o.lasts) with ordinality as s(subject, first, last, place)
            join draw as d on d.id = s.subject
            join play as y on y.draw = s.subject and y.seq between s.first and s.last
            join prize as z on z.draw = y.draw and z.n = y.prize
            left join account as e on e.id = z.escrow
            order by o.n, s.place, y.seq;
    elsif of_type like 'packet.%' then
        return query
            select o.n, p.id, outbox_time(o.at),
                   case of_type
                       when 'packet.sent' then json_build_object(
                           'packet', p.id, 'group', p.group_id, 'sender', p.sender, 'kind', p.kind, 'asset', p.asset,
                           'amount', p.amount, 'count', p.count, 'opensAt', outbox_time(p.opens_at),
                           'expiresAt', outbox_time(p.expires_at))
                       when 'packet.drained' then json_build_object(
                           'packet', p.id, 'group', p.group_id, 'sender', p.sender, 'asset', p.asset, 'amount', p.amount,
                           'count', p.count)
                       else json_build_object(
                           'packet', p.id, 'group', p.group_id, 'sender', p.sender, 'asset', p.asset, 'amount', p.amount,
                           'claimed', p.amount - p.refund, 'refund', p.refund, 'status', coalesce(p.ending, 'refunded'))
                   end::text
            from unnest(of_shards, ns) as g(shard, n)
            join outbox as o on o.shard = g.shard and o.n = g.n
            cross join lateral unnest(o.subjects) with ordinality as s(subject, place)
            join packet as p on p.id = s.subject
            order by o.n, s.place;
    elsif of_type like 'campaign.%' then
        return query select e.n, e.subject, e.at, e.data from campaign_events(of_type, of_shards, ns) as e;
    elsif of_type like 'rain.%' then
        return query select e.n, e.subject, e.at, e.data from rain_events(of_type, of_shards, ns) as e;
    elsif of_type = 'transfer.reversal' then
        return query select e.n, e.subject, e.at, e.data from reversal_events(of_shards, ns) as e;
    elsif of_type = 'draw.closed' then
        return query
            select o.n, d.id, outbox_time(o.at),
                   json_build_object('draw', d.id, 'group', d.group_id, 'owner', d.owner, 'name', d.definition -> 'name',
                                     'final', d.final_table)::text
            from unnest(of_shards, ns) as g(shard, n)
            join outbox as o on o.shard = g.shard and o.n = g.n
            cross join lateral unnest(o.subjects) with ordinality as s(subject, place)
            join draw as d on d.id = s.subject
            order by o.n, s.place;
    else
        return query
            select o.n, t.subject, outbox_time(t.at),
                   json_build_object('transfer', t.id::text, case when t.kind in ('cost', 'return') then 'draw' else 'command' end,
                                     t.subject, 'user', w.owner, 'asset', w.asset, 'amount', t.amount)::text
            from unnest(of_shards, ns) as g(shard, n)
            join outbox as o on o.shard = g.shard and o.n = g.n
            cross join lateral unnest(o.subjects, o.firsts) with ordinality as s(subject, id, place)
            join transfer as t on t.subject = s.subject and t.id = s.id
            join account as w on w.id = case when t.kind in ('deposit', 'return') then t.credit else t.debit end
            order by o.n, s.place;
    end if;
end
$$;

-- Who is told. One server at a time delivers, see WebhookVerticle; each change of a position names the one before, so that a server that
-- was replaced changes nothing.
create table webhook (
    id            uuid        primary key, -- UUIDv7
    url           text        not null,
    types         text[]      not null check (cardinality(types) > 0),
    batch         integer     not null check (batch between 1 and 1000), -- events of one message at the most
    created_at    timestamptz not null default now(),
    position      text        not null, -- a cursor: what comes after it is not delivered
    low           bigint      not null, -- rows of the outbox up to here are delivered
    attempts      integer     not null default 0, -- failed ones in a row
    failing_since timestamptz,
    next_at       timestamptz not null default now(), -- of the next attempt
    disabled_at   timestamptz,
    reason        text, -- why it is disabled
    check ((disabled_at is null) = (reason is null))
);

-- Each message is signed with all that have not ended.
create table webhook_secret (
    id      uuid        primary key, -- UUIDv7
    webhook uuid        not null references webhook on delete cascade,
    secret  text        not null,
    ends_at timestamptz -- null for the newest
);
create index webhook_secret_of on webhook_secret (webhook);

-- The latest attempts, for people.
create table webhook_delivery (
    webhook uuid        not null references webhook on delete cascade,
    n       bigint      generated always as identity,
    message text        not null, -- its webhook-id
    after   text        not null, -- the position before it
    events  integer     not null,
    status  integer, -- of the answer; null for none
    error   text, -- why there was none
    millis  integer     not null,
    at      timestamptz not null default now(),
    primary key (webhook, n)
);

-- Removes at most `page` rows that are older than `keep`, or beyond the newest `most`; the oldest first, and none that an enabled
-- webhook has not delivered. Returns how many rows are gone.
create function outbox_sweep(keep interval, most bigint, page integer) returns bigint
    language plpgsql
as $$
declare
    gone bigint;
begin
    perform from outbox_state for update;
    with streams as materialized (
        select -1::smallint as shard union all select id from shard
    ), newest as materialized (
        select max(l.n) as n
        from streams as s
        cross join lateral (select o.n from outbox as o where o.shard = s.shard order by o.n desc limit 1) as l
    ), removed as (
        delete from outbox as o
        using (select l.shard, l.n
               from streams as s
               cross join lateral (select x.shard, x.n, x.at from outbox as x where x.shard = s.shard order by x.n limit page) as l
               cross join newest
               where (l.at < now() - keep or l.n <= newest.n - most)
                 and l.n <= coalesce((select min(low) from webhook where disabled_at is null), l.n)
               order by l.n limit page) as old
        where o.shard = old.shard and o.n = old.n
        returning o.n
    ), raised as (
        update outbox_state set floor = greatest(floor, (select max(n) from removed))
        where exists (select from removed)
    )
    select count(*) from removed into gone;
    return gone;
end
$$;

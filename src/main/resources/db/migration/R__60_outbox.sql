-- The outbox: trigger functions that write its rows, and functions that make events of them from the books.

-- After this database went back in time: a reader with a lost cursor gets all kept events again. Returns false if another shard's recovery
-- began anew since Postgres started: a restore of data is a start.
create or replace function outbox_begins_anew() returns boolean
    language plpgsql
as $$
begin
    update outbox_state set era = gen_random_uuid(), anew_at = postgres_start() where anew_at is distinct from postgres_start();
    return found;
end
$$;

-- A time in RFC 3339.
create or replace function outbox_time(at timestamptz) returns text
    language sql
    stable
return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');

-- Reports transfers. A statement inserts only claims, or no claims. A settlement that reports its claims itself says so and is skipped: it
-- knows the shards. Looking up each packet again cost a twelfth of Postgres' work for claims on many packets.
create or replace function transfer_to_outbox() returns trigger
    language plpgsql
    -- One plan for all calls, perhaps made while the tables are empty.
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    if exists (select from inserted where slot is not null) then
        if current_setting('hongbao.tells_claims', true) is distinct from 'on' then
            insert into outbox (shard, type, subjects, firsts, lasts, events)
            select p.shard, 'claim.settled', array_agg(c.subject), array_agg(c.first), array_agg(c.last), sum(c.last - c.first + 1)
            from (select subject, min(slot) as first, max(slot) as last from inserted where slot is not null group by subject) as c
            join packet as p on p.id = c.subject
            group by p.shard;
        end if;
    else
        insert into outbox (shard, type, subjects, firsts, lasts, events)
        select t.shard, t.type, array_agg(t.subject order by t.id), array_agg(t.id order by t.id), array_agg(t.id order by t.id), count(*)
        from (select i.subject, i.id,
                     case i.kind when 'send' then 'packet.sent' else 'transfer.' || i.kind end as type,
                     case i.kind when 'return' then (select d.shard from draw as d where d.id = i.subject) else -1 end as shard
              from inserted as i
              where i.kind in ('send', 'deposit', 'withdrawal', 'cost', 'return', 'reversal')
                -- Not for a rain's drops, whose events would reveal their moments. rain.created reports the payment for all of them.
                and not exists (select from campaign as c where c.escrow = i.debit and c.kind = 'rain')
              union all
              select i.subject, i.id, fund_event(i.subject, i.id), -1 from inserted as i where i.kind = 'fund') as t
        where t.type is not null
        group by t.shard, t.type;
    end if;
    return null;
end
$$;

-- Reports draw.opened, once for each draw: by a sweep after the opening, or before the first play or the end. The row's shard is
-- of_shard: -1, or null for the draw's own shard, under the lock of its row.
create or replace function tell_opened(draws uuid[], of_shard smallint) returns void
    language sql
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
begin atomic
    with gone as (
        delete from draw_unopened as u where u.draw = any (draws) returning u.draw
    )
    insert into outbox (shard, type, subjects, events)
    select coalesce(of_shard, d.shard), 'draw.opened', array_agg(d.id order by d.id), count(*)
    from gone as g join draw as d on d.id = g.draw
    group by 1;
end;

-- Reports all draws that have opened.
create or replace function draws_open() returns void
    language sql
begin atomic
    select tell_opened(array(select u.draw from draw_unopened as u where u.opens_at <= now() order by u.draw limit 1000),
                       -1::smallint);
end;

create or replace function draw_to_outbox() returns trigger
    language plpgsql
as $$
begin
    insert into draw_unopened (draw, opens_at) values (new.id, new.opens_at);
    if new.opens_at <= now() then
        perform tell_opened(array[new.id], -1::smallint);
    end if;
    return null;
end
$$;

-- Reports plays, and a draw's opening before its first play.
create or replace function play_to_outbox() returns trigger
    language plpgsql
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    if exists (select from draw_unopened) then
        perform tell_opened(array(select distinct draw from inserted order by 1), null);
    end if;
    insert into outbox (shard, type, subjects, firsts, lasts, events)
    select d.shard, 'play.settled', array_agg(p.draw), array_agg(p.first), array_agg(p.last), sum(p.last - p.first + 1)
    from (select draw, min(seq) as first, max(seq) as last from inserted group by draw) as p
    join draw as d on d.id = p.draw
    group by d.shard;
    return null;
end
$$;

-- Reports the ends of packets. A packet whose time ran out expires, and its rest goes back. A due refund is reported when it is paid.
create or replace function packet_end_to_outbox() returns trigger
    language plpgsql
    set enable_nestloop = off -- a settlement may end a thousand packets, with a plan made for one
    set enable_hashjoin = on -- also within a settlement, which turns it off
as $$
begin
    insert into outbox (shard, type, subjects, events)
    select n.shard, e.type, array_agg(n.id order by n.id), count(*)
    from new_packets as n join old_packets as o on o.id = n.id and o.closed_at is null
    left join refund_due as d on d.packet = n.id
    cross join lateral (values ('packet.drained', n.refund = 0),
                               ('packet.expired', n.refund > 0 and n.ending is null),
                               ('packet.refunded', n.refund > 0 and d.packet is null)) as e(type, holds)
    where n.closed_at is not null and e.holds
    group by 1, 2
    order by 2;
    return null;
end
$$;

-- Reports the end of a draw, after its opening, also without plays. A draw that ends before it opens has no opening.
create or replace function draw_end_to_outbox() returns trigger
    language plpgsql
    set enable_nestloop = off
    set enable_hashjoin = on
as $$
declare
    over constant uuid[] := array(select n.id from new_draws as n join old_draws as o on o.id = n.id and o.closed_at is null
                                  where n.closed_at is not null order by n.id);
begin
    if over = '{}' then
        return null;
    end if;
    delete from draw_unopened as u where u.draw = any (over) and u.opens_at > now();
    perform tell_opened(over, null);
    insert into outbox (shard, type, subjects, events)
    select n.shard, 'draw.closed', array_agg(n.id order by n.id), count(*)
    from new_draws as n
    where n.id = any (over)
    group by n.shard;
    return null;
end
$$;

-- Events of campaigns have no shard, since their writers hold no shard's lock. They are written under the lock of the campaign's row, so
-- they are in order.

-- The event type of a 'fund' transfer; null for a rain, which has its own row.
create or replace function fund_event(of_subject uuid, of_transfer bigint) returns text
    language sql
    stable
return (select case when exists (select from transfer as t where t.subject = c.id and t.kind = 'fund' and t.id < of_transfer)
                    then 'campaign.raised' else 'campaign.created' end
        from campaign as c where c.id = of_subject and c.kind = 'campaign');

create or replace function campaign_to_outbox() returns trigger
    language plpgsql
as $$
begin
    insert into outbox (shard, type, subjects, events)
    select -1, t.type, array_agg(t.id order by t.id), count(*)
    from (select n.id, case when n.closed_at is not null and o.closed_at is null then 'campaign.ended'
                            when n.paused_at is not null and o.paused_at is null then 'campaign.paused'
                            when n.paused_at is null and o.paused_at is not null then 'campaign.resumed'
                       end as type
          from new_campaigns as n join old_campaigns as o on o.id = n.id where n.kind = 'campaign') as t
    where t.type is not null
    group by t.type;
    return null;
end
$$;

create or replace function rain_to_outbox() returns trigger
    language plpgsql
as $$
begin
    insert into outbox (shard, type, subjects, events) values (-1, 'rain.created', array[new.id], 1);
    return null;
end
$$;

-- Reports restrictions. Their events and fulfilments' have no shard, since their writers hold no shard's lock.
create or replace function restriction_to_outbox() returns trigger
    language plpgsql
as $$
begin
    insert into outbox (shard, type, subjects, firsts, events)
    values (-1,
            new.scope || '.' || case when not new.placed then 'un' else '' end || new.kind,
            -- The subject as a uuid; the event is read from the row n.
            array[md5(new.scope || ' ' || new.subject)::uuid], array[new.n], 1);
    return null;
end
$$;

create or replace function fulfilment_to_outbox() returns trigger
    language plpgsql
as $$
begin
    insert into outbox (shard, type, subjects, firsts, lasts, events)
    values (-1, 'fulfilment.changed', array[new.draw], array[new.seq], array[new.n::bigint], 1);
    return null;
end
$$;

-- The events of one type of outbox rows, from the books. In the order of the rows, and in a fixed order within a row.
create or replace function outbox_events(of_type text, of_shards smallint[], ns bigint[])
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
                                     'asset', w.asset, 'amount', t.amount, 'transfer', t.id::text, 'reference', c.reference)::text
            from unnest(of_shards, ns) as g(shard, n)
            join outbox as o on o.shard = g.shard and o.n = g.n
            cross join lateral unnest(o.subjects, o.firsts, o.lasts) with ordinality as s(subject, first, last, place)
            join packet as p on p.id = s.subject
            left join command as c on c.id = p.id
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
                           'expiresAt', outbox_time(p.expires_at), 'reference', c.reference,
                           'metadata', coalesce(p.metadata, '{}'))
                       when 'packet.drained' then json_build_object(
                           'packet', p.id, 'group', p.group_id, 'sender', p.sender, 'asset', p.asset, 'amount', p.amount,
                           'count', p.count, 'reference', c.reference, 'metadata', coalesce(p.metadata, '{}'))
                       when 'packet.expired' then json_build_object(
                           'packet', p.id, 'group', p.group_id, 'sender', p.sender, 'asset', p.asset, 'amount', p.amount,
                           'count', p.count, 'claimed', p.amount - p.refund, 'reference', c.reference,
                           'metadata', coalesce(p.metadata, '{}'))
                       else json_build_object(
                           'packet', p.id, 'group', p.group_id, 'sender', p.sender, 'asset', p.asset, 'amount', p.amount,
                           'claimed', p.amount - p.refund, 'refund', p.refund, 'status', coalesce(p.ending, 'refunded'),
                           'reference', c.reference, 'metadata', coalesce(p.metadata, '{}'))
                   end::text
            from unnest(of_shards, ns) as g(shard, n)
            join outbox as o on o.shard = g.shard and o.n = g.n
            cross join lateral unnest(o.subjects) with ordinality as s(subject, place)
            join packet as p on p.id = s.subject
            left join command as c on c.id = p.id
            order by o.n, s.place;
    elsif of_type like 'campaign.%' then
        return query select e.n, e.subject, e.at, e.data from campaign_events(of_type, of_shards, ns) as e;
    elsif of_type like 'rain.%' then
        return query select e.n, e.subject, e.at, e.data from rain_events(of_type, of_shards, ns) as e;
    elsif of_type = 'transfer.reversal' then
        return query select e.n, e.subject, e.at, e.data from reversal_events(of_shards, ns) as e;
    elsif of_type like 'user.%' or of_type like 'group.%' then
        return query select e.n, e.subject, e.at, e.data from restriction_events(of_shards, ns) as e;
    elsif of_type = 'fulfilment.changed' then
        return query select e.n, e.subject, e.at, e.data from fulfilment_events(of_shards, ns) as e;
    elsif of_type = 'draw.opened' then
        return query
            select o.n, d.id, outbox_time(greatest(d.opens_at, d.created_at)),
                   json_build_object('draw', d.id, 'group', d.group_id, 'owner', d.owner, 'name', d.definition -> 'name',
                                     'closesAt', d.definition -> 'closesAt',
                                     'metadata', coalesce(d.definition -> 'metadata', '{}'))::text
            from unnest(of_shards, ns) as g(shard, n)
            join outbox as o on o.shard = g.shard and o.n = g.n
            cross join lateral unnest(o.subjects) with ordinality as s(subject, place)
            join draw as d on d.id = s.subject
            order by o.n, s.place;
    elsif of_type = 'draw.closed' then
        return query
            select o.n, d.id, outbox_time(o.at),
                   json_build_object('draw', d.id, 'group', d.group_id, 'owner', d.owner, 'name', d.definition -> 'name',
                                     'finalTable', d.final_table, 'metadata', coalesce(d.definition -> 'metadata', '{}'))::text
            from unnest(of_shards, ns) as g(shard, n)
            join outbox as o on o.shard = g.shard and o.n = g.n
            cross join lateral unnest(o.subjects) with ordinality as s(subject, place)
            join draw as d on d.id = s.subject
            order by o.n, s.place;
    else
        return query
            select o.n, t.subject, outbox_time(t.at),
                   json_build_object('transfer', t.id::text, case when t.kind in ('cost', 'return') then 'draw' else 'command' end,
                                     t.subject, 'user', w.owner, 'asset', w.asset, 'amount', t.amount,
                                     'reference', c.reference)::text
            from unnest(of_shards, ns) as g(shard, n)
            join outbox as o on o.shard = g.shard and o.n = g.n
            cross join lateral unnest(o.subjects, o.firsts) with ordinality as s(subject, id, place)
            join transfer as t on t.subject = s.subject and t.id = s.id
            join account as w on w.id = case when t.kind in ('deposit', 'return') then t.credit else t.debit end
            left join command as c on c.id = t.subject and t.kind in ('deposit', 'withdrawal')
            order by o.n, s.place;
    end if;
end
$$;

-- The events of campaigns; a part of outbox_events.
create or replace function campaign_events(of_type text, of_shards smallint[], ns bigint[])
    returns table (n bigint, subject uuid, at text, data text)
    language sql
    stable
begin atomic
    select o.n, c.id, outbox_time(o.at),
           case of_type
               when 'campaign.created' then json_build_object(
                   'campaign', c.id, 'sponsor', c.sponsor, 'name', c.name, 'asset', c.asset,
                   'metadata', coalesce(c.definition -> 'metadata', '{}'), 'budget', f.budget)
               when 'campaign.raised' then json_build_object(
                   'campaign', c.id, 'sponsor', c.sponsor, 'name', c.name, 'asset', c.asset,
                   'metadata', coalesce(c.definition -> 'metadata', '{}'), 'amount', f.amount, 'budget', f.budget)
               when 'campaign.ended' then json_build_object(
                   'campaign', c.id, 'sponsor', c.sponsor, 'name', c.name, 'asset', c.asset,
                   'metadata', coalesce(c.definition -> 'metadata', '{}'), 'budget', c.budget,
                   'used', c.budget - c.returned, 'returned', c.returned)
               else json_build_object('campaign', c.id, 'sponsor', c.sponsor, 'name', c.name, 'asset', c.asset,
                   'metadata', coalesce(c.definition -> 'metadata', '{}'))
           end::text
    from unnest(of_shards, ns) as g(shard, n)
    join outbox as o on o.shard = g.shard and o.n = g.n
    cross join lateral unnest(o.subjects, o.firsts) with ordinality as s(subject, transfer, place)
    join campaign as c on c.id = s.subject
    left join lateral (
        -- The budget up to this transfer, so that a repeated event is equal.
        select max(t.amount) filter (where t.id = s.transfer) as amount, sum(t.amount) as budget
        from transfer as t where t.subject = c.id and t.kind = 'fund' and t.id <= s.transfer) as f on true
    order by o.n, s.place;
end;

-- The events of rains; a part of outbox_events.
create or replace function rain_events(of_type text, of_shards smallint[], ns bigint[])
    returns table (n bigint, subject uuid, at text, data text)
    language sql
    stable
as $$
    select o.n, r.id, outbox_time(o.at),
           case of_type
               when 'rain.created' then json_build_object(
                   'rain', r.id, 'sponsor', c.sponsor, 'name', c.name, 'asset', c.asset,
                   'metadata', coalesce(c.definition -> 'metadata', '{}'), 'budget', c.budget, 'everyone', r.public,
                   'groups', r.groups, 'channel', r.channel, 'drops', r.drops, 'startsAt', outbox_time(r.starts_at),
                   'endsAt', outbox_time(r.ends_at))
               else json_build_object(
                   'rain', r.id, 'sponsor', c.sponsor, 'name', c.name, 'asset', c.asset,
                   'metadata', coalesce(c.definition -> 'metadata', '{}'), 'budget', c.budget,
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

-- The events of reversals; a part of outbox_events. user: the owner of the wallet whose transfer is reversed. payer: the owner of the
-- wallet that gets a claim's or award's amount back.
create or replace function reversal_events(of_shards smallint[], ns bigint[])
    returns table (n bigint, subject uuid, at text, data text)
    language sql
    stable
begin atomic
    select o.n, b.subject, outbox_time(b.at),
           json_build_object('transfer', b.id::text, 'command', b.subject, 'user', w.owner,
                             'direction', case when w.id = b.debit then 'debit' else 'credit' end,
                             'asset', w.asset, 'amount', b.amount, 'reverses', r.transfer::text, 'kind', t.kind,
                             'payer', case when t.kind in ('claim', 'award') then p.owner end,
                             'reference', c.reference, 'reason', c.reason)::text
    from unnest(of_shards, ns) as g(shard, n)
    join outbox as o on o.shard = g.shard and o.n = g.n
    cross join lateral unnest(o.subjects, o.firsts) with ordinality as s(subject, id, place)
    join transfer as b on b.subject = s.subject and b.id = s.id
    join command as c on c.id = b.subject
    join reversal as r on r.command = b.subject
    join transfer as t on t.subject = r.subject and t.id = r.transfer
    join account as w on w.id = case t.kind when 'withdrawal' then b.credit else b.debit end
    join account as p on p.id = b.credit
    order by o.n, s.place;
end;

-- The events of restrictions; a part of outbox_events.
create or replace function restriction_events(of_shards smallint[], ns bigint[])
    returns table (n bigint, subject uuid, at text, data text)
    language sql
    stable
begin atomic
    select o.n, s.subject, outbox_time(r.at),
           json_build_object(r.scope, r.subject, 'by', r.actor, 'reason', r.reason)::text
    from unnest(of_shards, ns) as g(shard, n)
    join outbox as o on o.shard = g.shard and o.n = g.n
    cross join lateral unnest(o.subjects, o.firsts) with ordinality as s(subject, n, place)
    join restriction as r on r.n = s.n
    order by o.n, s.place;
end;

-- The events of fulfilments; a part of outbox_events. seq is the play's place, change the change's place.
create or replace function fulfilment_events(of_shards smallint[], ns bigint[])
    returns table (n bigint, subject uuid, at text, data text)
    language sql
    stable
begin atomic
    select o.n, s.subject, outbox_time(f.at),
           json_build_object('draw', y.draw, 'group', d.group_id, 'user', y.user_id, 'seq', y.seq, 'number', y.prize, 'prize', z.name,
                             'state', f.state, 'note', f.note, 'by', f.actor)::text
    from unnest(of_shards, ns) as g(shard, n)
    join outbox as o on o.shard = g.shard and o.n = g.n
    cross join lateral unnest(o.subjects, o.firsts, o.lasts) with ordinality as s(subject, seq, change, place)
    join fulfilment as f on f.draw = s.subject and f.seq = s.seq and f.n = s.change
    join play as y on y.draw = f.draw and y.seq = f.seq
    join draw as d on d.id = y.draw
    join prize as z on z.draw = y.draw and z.n = y.prize
    order by o.n, s.place;
end;

-- Deletes at most `page` rows older than `keep`, or beyond the newest `most`; oldest first, and none that an enabled webhook has not
-- delivered. Returns the number deleted.
create or replace function outbox_sweep(keep interval, most bigint, page integer) returns bigint
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

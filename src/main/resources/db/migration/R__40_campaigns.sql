-- Campaigns and rains: which pools may be opened, how a campaign ends, how a rain's drops fall.

-- The number of a moment's day in a zone.
create or replace function local_day(moment timestamptz, zone text) returns integer
    language sql
    stable
return (moment at time zone zone)::date - date '1970-01-01';

-- Judges pools that are about to be sent, and cuts their lives off at their campaign's end. Locks the campaigns until the
-- transaction ends: what is counted here is not counted by another at the same time, and an end waits.
--
-- Takes the verdicts so far (null for one to be judged), and leaves every packet alone whose campaign is null.
--   'unknown'   there is no such campaign
--   'over'      it has ended
--   'early'     it opens later
--   'paused'    it is paused
--   'stranger'  the group or the user may not open pools
--   'opened'    the user has opened one for this product
--   'daily'     the user has opened as many as a day has
create or replace function judge_pools(
    inout verdicts text[], inout lifetimes bigint[], campaigns uuid[], products text[], openers text[], groups text[])
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
as $$
declare
    clock timestamptz;
begin
    perform from campaign as c where c.id = any (campaigns) order by c.id for no key update;
    clock := clock_timestamp(); -- not now(): an end may have come while this waited

    -- By a statement of its own, so that it sees what was committed while it waited.
    select array_agg(coalesce(g.verdict, case
                         when g.campaign is null then null
                         when c.id is null then 'unknown'
                         when c.closed_at is not null or c.ends_at - interval '1 millisecond' <= clock then 'over'
                         when not is_open_at(c.opens_at, c.created_at, clock) then 'early'
                         when c.paused_at is not null then 'paused'
                         when not coalesce(c.opening -> 'groups' ? g.group_id, true)
                              or not coalesce(c.opening -> 'users' ? g.opener, true) then 'stranger'
                         when (c.opening -> 'onePerProduct')::boolean
                              -- Not by exists: a plan may read all pools for that.
                              and (select o.packet from pool as o where o.campaign = c.id and o.opener = g.opener
                                                                    and o.product = g.product limit 1) is not null then 'opened'
                         when (c.opening -> 'poolsADay')::integer
                              <= (select count(*) from pool as o where o.campaign = c.id and o.opener = g.opener
                                                                   and o.day = local_day(now(), c.zone)) then 'daily'
                     end) order by g.n),
           array_agg(case when c.id is null then g.lifetime
                          else least(g.lifetime, floor(extract(epoch from c.ends_at - now()) * 1000)::bigint)
                     end order by g.n)
    into verdicts, lifetimes
    from unnest(verdicts, lifetimes, campaigns, products, openers, groups) with ordinality
             as g(verdict, lifetime, campaign, product, opener, group_id, n)
    left join lateral (select *, definition -> 'opening' as opening from campaign where id = g.campaign limit 1) as c on true;
end
$$;

-- Ends a campaign now: no pool is opened any more, and end_pools ends those that are open. Whether it is over already does not matter.
create or replace function end_campaign(of_campaign uuid) returns void
    language plpgsql
as $$
declare
    moment timestamptz;
begin
    perform from campaign where id = of_campaign for no key update;
    moment := clock_timestamp(); -- after the opening of every pool: they were opened under this lock
    update campaign set opens_at = least(opens_at, moment), ends_at = moment, pools_go_on = true
    where id = of_campaign and closed_at is null and ends_at > moment;
end
$$;

-- Brings the ends of pools forward of those of some campaigns that were ended, at most `page` of each campaign: a settlement waits for
-- the lock of a pool, and must not wait long. close_campaigns waits for pools only while it holds no lock of a campaign. cancel_rain
-- holds the rain's row and its campaign's; only their owner, who closes them, and another cancelling wait for these. The pools are
-- closed as every packet is; one that opens later never opens. The application's role may not change when a packet opens or expires,
-- but for this.
create or replace function end_pools(of_campaigns uuid[], page integer) returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
as $$
declare
    ended record;
    pools uuid[];
    over  uuid[] := '{}'; -- campaigns whose pools have all been ended
begin
    for ended in
        select c.id, c.ends_at from campaign as c
        where c.id = any (of_campaigns) and c.closed_at is null and c.ends_at <= clock_timestamp() and c.pools_go_on
        order by c.id
    loop
        pools := array(select p.id from pool as o join packet as p on p.id = o.packet
                       where o.campaign = ended.id and p.closed_at is null and p.expires_at > ended.ends_at limit page);
        perform from packet where id = any (pools) order by id for no key update;
        update packet set opens_at = least(opens_at, ended.ends_at - interval '1 microsecond'), expires_at = ended.ends_at
        where id = any (pools) and closed_at is null;
        if cardinality(pools) < page then
            over := over || ended.id;
        end if;
    end loop;
    update campaign set pools_go_on = false where id = any (over);
end
$$;
revoke execute on function end_pools(uuid[], integer) from public;
grant execute on function end_pools(uuid[], integer) to ${app};

-- Closes campaigns of some shards that have ended, each when its last pool is closed and paid back: what is left in its escrow goes to its
-- sponsor, once. One whose sponsor's wallet is held waits for the next call. Returns those that are closed now, and their shards.
create or replace function close_campaigns(of_shards smallint[]) returns table (campaign uuid, shard smallint)
    language plpgsql
as $$
declare
    ended uuid[];
    due   uuid[];
    held  bigint[];
begin
    ended := array(select c.id from campaign as c
                   where c.shard = any (of_shards) and c.closed_at is null and c.ends_at <= now() and c.pools_go_on);
    perform end_pools(ended, 2000);
    -- A look that costs little: a pool of a campaign that has ended is due, and of what is due little is open.
    due := array(select c.id from campaign as c
                 where c.shard = any (of_shards) and c.closed_at is null and c.ends_at <= now() and not c.pools_go_on
                   and not exists (select from packet as p
                                   where p.closed_at is null and p.expires_at <= c.ends_at and p.refund_to = c.escrow)
                 order by c.id limit 256 for no key update);
    if due = '{}' then
        return;
    end if;
    held := held_accounts(array(select c.refund_to from campaign as c where c.id = any (due)));
    -- Under the locks, and by a statement of its own: it sees the pools of whoever held a lock until now.
    due := array(select c.id from campaign as c
                 where c.id = any (due) and c.refund_to <> all (held)
                   and not exists (select from pool as o join packet as p on p.id = o.packet
                                   where o.campaign = c.id and p.closed_at is null)
                   and not exists (select from refund_due as d where d.refund_to = c.escrow));

    insert into transfer (subject, debit, credit, amount, kind)
    select c.id, c.escrow, c.refund_to, e.balance, 'refund'
    from campaign as c join account as e on e.id = c.escrow
    where c.id = any (due) and e.balance <> 0;

    return query
        update campaign as c
        set closed_at = now(), returned = coalesce((select t.amount from transfer as t where t.subject = c.id and t.kind = 'refund'), 0)
        where c.id = any (due)
        returning c.id, c.shard;
end
$$;

-- Shares of a rain that are caught and settled; and the amount of those on drops that are over, in minor units. Not of an open drop: its
-- last share is the total less the rest.
create or replace function rain_catches(of_rain uuid, out caught integer, out amount bigint)
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
create or replace function rains_going(of_shards smallint[], soon interval) returns boolean
    language sql
    stable
return exists (select from rain as r join campaign as c on c.id = r.id
               where not r.ended and r.starts_at <= now() + soon and c.shard = any (of_shards));

-- A drop is announced at its moment and not before; should its server be gone by then, by whoever looks for packets of which nobody heard.
-- Then tells of the new rain, as the last thing of the transaction that makes it.
create or replace function announce_rain(of_rain uuid) returns void
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
--
-- Its moment is read under all locks. Before them, a drop could fall and be announced while they were waited for, and was told to have
-- never fallen. Locks: the campaign, the rain, its packets, then what is unannounced, each in order.
create or replace function cancel_rain(of_rain uuid) returns void
    language plpgsql
as $$
declare
    falling constant uuid[] := array(select packet from pool where campaign = of_rain);
    never   uuid[];
begin
    perform from campaign where id = of_rain for no key update;
    perform from rain where id = of_rain for no key update;
    perform from packet where id = any (falling) and closed_at is null order by id for no key update;
    -- Who announces a drop takes it out of here: whatever is announced by now has fallen, and nothing falls until this is committed.
    perform from unannounced where packet = any (falling) order by packet for update;

    perform end_campaign(of_rain);
    update rain as r set cancelled_at = c.ends_at
    from campaign as c
    where r.id = of_rain and c.id = r.id and r.cancelled_at is null and c.ends_at < r.ends_at;
    if found then
        -- At once, and all of them: there are at most 500 drops.
        perform end_pools(array[of_rain], 500);
        never := array(select p.id from rain as r join packet as p on p.id = any (falling)
                       where r.id = of_rain and p.opens_at >= r.cancelled_at - interval '1 microsecond');
        delete from unannounced where packet = any (never);
    end if;
end
$$;

-- Whether a drop has fallen.
create or replace function has_fallen(opens_at timestamptz, cancelled_at timestamptz) returns boolean
    language sql
    stable
return opens_at <= now() and (cancelled_at is null or opens_at < cancelled_at - interval '1 microsecond');

-- Some packets are about to be ended early, those with an ending. A drop among them that has not been announced never is: who announces
-- a packet loads it, too. Locks: the packets, then what is unannounced, each in order, as cancel_rain does.
create or replace function drops_never_fall(packets uuid[], endings text[]) returns void
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
create or replace function rain_ends() returns trigger
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

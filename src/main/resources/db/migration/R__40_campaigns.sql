-- Campaigns and rains: the judgement of new pools, the end of campaigns, the drops of rains.

-- The number of a moment's day in a zone.
create or replace function local_day(moment timestamptz, zone text) returns integer
    language sql
    stable
return (moment at time zone zone)::date - date '1970-01-01';

-- Judges new pools, and limits their lifetimes to their campaign's end. Locks the campaigns until the transaction ends: no other
-- transaction counts at the same time, and an end waits.
--
-- Takes the verdicts so far, and replaces a null one. Packets without a campaign stay unjudged. The verdicts:
--   'unknown'   there is no such campaign
--   'over'      the campaign has ended
--   'early'     the campaign opens later
--   'paused'    the campaign is paused
--   'stranger'  the group or the user may not open pools
--   'opened'    the user has opened a pool for this product
--   'daily'     the user has opened all pools of a day
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
    clock := clock_timestamp(); -- not now(): the campaign may have ended during the wait

    -- A statement of its own, so that it sees commits during the wait.
    select array_agg(coalesce(g.verdict, case
                         when g.campaign is null then null
                         when c.id is null then 'unknown'
                         when c.closed_at is not null or c.ends_at - interval '1 millisecond' <= clock then 'over'
                         when not is_open_at(c.opens_at, c.created_at, clock) then 'early'
                         when c.paused_at is not null then 'paused'
                         when not coalesce(c.opening -> 'groups' ? g.group_id, true)
                              or not coalesce(c.opening -> 'users' ? g.opener, true) then 'stranger'
                         when (c.opening -> 'onePerProduct')::boolean
                              -- Not exists: its plan may read all pools.
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

-- Ends a campaign now: no further pool opens, and end_pools ends the open ones. Does nothing for a campaign that is over.
create or replace function end_campaign(of_campaign uuid) returns void
    language plpgsql
as $$
declare
    moment timestamptz;
begin
    perform from campaign where id = of_campaign for no key update;
    moment := clock_timestamp(); -- after the opening of each pool, which took this lock
    update campaign set opens_at = least(opens_at, moment), ends_at = moment, pools_go_on = true
    where id = of_campaign and closed_at is null and ends_at > moment;
end
$$;

-- Moves the expiry of ended campaigns' open pools to the campaigns' end, at most `page` pools. Settlements wait for a pool's lock,
-- so the calls are short. The pools then close like any packet; one that opens later never opens.
--
-- Only this function lets the application's role change a packet's opening or expiry.
--
-- Locks: close_campaigns waits for pools only while it holds no campaign's lock. cancel_rain holds the locks of the rain and its campaign;
-- only the closing owner and another cancellation wait for these.
create or replace function end_pools(of_campaigns uuid[], page integer) returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    ended record;
    pools uuid[];
    rest  integer := page;
    over  uuid[] := '{}'; -- campaigns without further open pools
begin
    for ended in
        select c.id, c.ends_at, c.escrow from campaign as c
        where c.id = any (of_campaigns) and c.closed_at is null and c.ends_at <= clock_timestamp() and c.pools_go_on
        order by c.id
    loop
        pools := array(select p.id from packet as p
                       where p.refund_to = ended.escrow and p.closed_at is null and p.expires_at > ended.ends_at
                       order by p.expires_at limit rest);
        perform from packet where id = any (pools) order by id for no key update;
        update packet set opens_at = least(opens_at, ended.ends_at - interval '1 microsecond'), expires_at = ended.ends_at
        where id = any (pools) and closed_at is null;
        exit when cardinality(pools) = rest;
        rest := rest - cardinality(pools);
        over := over || ended.id;
    end loop;
    update campaign set pools_go_on = false where id = any (over);
end
$$;
revoke execute on function end_pools(uuid[], integer) from public;
grant execute on function end_pools(uuid[], integer) to ${app};

-- Closes ended campaigns of some shards, each after its last pool is closed and refunded. Pays the rest of the escrow to the sponsor, once.
-- A campaign whose sponsor's wallet is locked waits for the next call. A call that ends pools closes nothing. Returns the campaigns that
-- are closed now, and their shards.
create or replace function close_campaigns(of_shards smallint[]) returns table (campaign uuid, shard smallint)
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    ended uuid[];
    due   uuid[];
    held  bigint[];
begin
    ended := array(select c.id from campaign as c
                   where c.shard = any (of_shards) and c.closed_at is null and c.ends_at <= now());
    if exists (select from campaign as c where c.id = any (ended) and c.pools_go_on) then
        perform end_pools(ended, 2000);
        return; -- it holds campaigns' locks: judge_pools takes all of its own in one order
    end if;
    due := array(select c.id from campaign as c
                 where c.id = any (ended) and c.closed_at is null and not c.pools_go_on
                   and not exists (select from packet as p where p.refund_to = c.escrow and p.closed_at is null)
                 order by c.id limit 256 for no key update);
    if due = '{}' then
        return;
    end if;
    held := held_accounts(array(select c.refund_to from campaign as c where c.id = any (due)));
    -- Under the locks, and in a statement of its own: it sees the pools of earlier lock holders.
    due := array(select c.id from campaign as c
                 where c.id = any (due) and c.refund_to <> all (held)
                   and not exists (select from packet as p where p.refund_to = c.escrow and p.closed_at is null)
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

-- The settled catches of a rain, and their amount on drops that are over, in minor units. An open drop's amount would reveal its last
-- share.
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
    -- Slots have no gaps, so the highest one counts the claims.
    cross join lateral (select coalesce(max(t.slot) + 1, 0) as claims from transfer as t
                        where t.subject = p.id and t.slot is not null) as c
    where o.campaign = of_rain
$$;

-- Notes the drops as unannounced from their moments on: they are announced at their moments, or later by a server that looks for
-- unannounced packets. Then appends rain.announced, as the last step of the transaction that makes the rain.
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

-- Cancels a rain before its end; idempotent. Drops that have not fallen never fall: their opening moves to just before the cancellation.
--
-- Reads the time of the cancellation under all locks. A time read earlier would let a drop fall and be announced during the wait, and then
-- count as never fallen.
--
-- Locks the campaign, the rain, its packets, then the unannounced rows, each in order.
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
    -- An announcement deletes the row here. So announced drops have fallen, and no drop falls until the commit.
    perform from unannounced where packet = any (falling) order by packet for update;

    perform end_campaign(of_rain);
    update rain as r set cancelled_at = c.ends_at
    from campaign as c
    where r.id = of_rain and c.id = r.id and r.cancelled_at is null and c.ends_at < r.ends_at;
    if found then
        -- All at once: a rain has at most 500 drops.
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

-- Before packets with an ending are ended early: an unannounced drop among them is never announced, since an announcement also loads the
-- packet. Locks the packets, then the unannounced rows, each in order, like cancel_rain.
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
    perform from packet where id = any (packets) order by id for no key update; -- all packets: the settlement locks the others, too
    perform from unannounced where packet = any (drops) order by packet for update;
    delete from unannounced where packet = any (drops);
end
$$;

-- Writes a rain's end to the feeds and the outbox, in the transaction that ends it. Drops that are not announced by then never are.
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

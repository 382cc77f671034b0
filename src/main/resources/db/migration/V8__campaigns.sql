-- Campaigns: a budget of the host, from which its users open pools. A pool is a packet whose payer is the campaign: it is sent by
-- send_packets, claimed, closed and refunded as every packet is.
--
-- The money of a campaign. Its escrow gets the budget when it is made, and what the budget is raised by ('fund', from the host's
-- wallet). A pool is paid from it ('send'), and what nobody claimed of a pool goes back into it ('refund'). What is left at the end
-- goes to the host's wallet, once ('refund' of the campaign). So: escrow = budget - pools + refunds of pools - returned.

create table campaign (
    id         uuid primary key,
    kind       text        not null check (kind in ('campaign', 'rain')), -- of a rain the server itself opens all pools: see V9
    shard      smallint    not null references shard, -- of all its pools too: a script decides about them together
    host       text        not null, -- who made it
    name       text        not null,
    asset      text        not null,
    zone       text        not null, -- in which its days begin
    definition jsonb       not null, -- as the host wrote it
    escrow     bigint      not null unique references account,
    refund_to  bigint      not null references account, -- the host's wallet
    budget     bigint      not null, -- all that was put in
    created_at timestamptz not null default now(),
    opens_at   timestamptz not null,
    ends_at    timestamptz not null,
    paused_at  timestamptz, -- no pool is opened from then on; null: not paused
    -- It was ended before its time, and some of its pools have not been yet: they expire later than it ends.
    pools_go_on boolean    not null default false,
    closed_at  timestamptz, -- when what was left was returned
    returned   bigint      not null default 0 check (returned >= 0),
    constraint campaign_budget check (budget > 0 and budget < 100000000000000),
    check (opens_at <= ends_at),
    check (refund_to <> escrow),
    check (returned = 0 or closed_at is not null)
);
create index campaign_due on campaign (ends_at) where closed_at is null;
create index campaign_host on campaign (host, id);

-- What makes a packet a pool. Its row comes with the packet's and never changes.
create table pool (
    packet   uuid    primary key references packet,
    campaign uuid    not null references campaign,
    product  text    not null,
    opener   text    not null, -- the user who opened it
    day      integer not null -- on which it was opened, in the campaign's zone: days since 1970-01-01
);
create index pool_of_opener on pool (campaign, opener, product);
create index pool_opened on pool (opener, packet); -- a user's own, the newest first
create index pool_of_campaign on pool (campaign, day, product);

create trigger pool_is_kept
    before update or delete or truncate on pool
    for each statement execute function refuse_change();

-- The number of a moment's day in a zone.
create function local_day(moment timestamptz, zone text) returns integer
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
create function judge_pools(
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
                         when c.opens_at > clock then 'early'
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
create function end_campaign(of_campaign uuid) returns void
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
create function end_pools(of_campaigns uuid[], page integer) returns void
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

-- Closes campaigns of some shards that have ended, each when its last pool is closed: what is left in its escrow goes to its host,
-- once. Returns those that are closed now, and their shards.
create function close_campaigns(of_shards smallint[]) returns table (campaign uuid, shard smallint)
    language plpgsql
as $$
declare
    ended uuid[];
    due   uuid[];
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
    -- Under the locks, and by a statement of its own: it sees the pools of whoever held a lock until now.
    due := array(select c.id from campaign as c
                 where c.id = any (due) and c.closed_at is null
                   and not exists (select from pool as o join packet as p on p.id = o.packet
                                   where o.campaign = c.id and p.closed_at is null));

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

-- News of campaigns: rows of no shard, since nothing here holds a shard's lock. All of one campaign is written under the lock of its
-- row, so it is told in the order in which it happened.

-- What a transfer that funds something is told as; null for a rain, which tells itself.
create function fund_news(of_subject uuid, of_transfer bigint) returns text
    language sql
    stable
return (select case when exists (select from transfer as t where t.subject = c.id and t.kind = 'fund' and t.id < of_transfer)
                    then 'campaign.raised' else 'campaign.created' end
        from campaign as c where c.id = of_subject and c.kind = 'campaign');

create function campaign_to_outbox() returns trigger
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

create trigger campaign_to_outbox
    after update on campaign
    referencing old table as old_campaigns new table as new_campaigns
    for each statement execute function campaign_to_outbox();

-- As outbox_events, which asks it.
create function campaign_events(of_type text, of_shards smallint[], ns bigint[])
    returns table (n bigint, subject uuid, at text, data text)
    language sql
    stable
begin atomic
    select o.n, c.id, outbox_time(o.at),
           case of_type
               when 'campaign.created' then json_build_object(
                   'campaign', c.id, 'host', c.host, 'name', c.name, 'asset', c.asset, 'budget', f.budget)
               when 'campaign.raised' then json_build_object(
                   'campaign', c.id, 'host', c.host, 'name', c.name, 'asset', c.asset, 'amount', f.amount, 'budget', f.budget)
               when 'campaign.ended' then json_build_object(
                   'campaign', c.id, 'host', c.host, 'name', c.name, 'asset', c.asset, 'budget', c.budget,
                   'used', c.budget - c.returned, 'returned', c.returned)
               else json_build_object('campaign', c.id, 'host', c.host, 'name', c.name, 'asset', c.asset)
           end::text
    from unnest(of_shards, ns) as g(shard, n)
    join outbox as o on o.shard = g.shard and o.n = g.n
    cross join lateral unnest(o.subjects, o.firsts) with ordinality as s(subject, transfer, place)
    join campaign as c on c.id = s.subject
    left join lateral (
        -- The budget as it was by this transfer: told again later, an event is the same.
        select max(t.amount) filter (where t.id = s.transfer) as amount, sum(t.amount) as budget
        from transfer as t where t.subject = c.id and t.kind = 'fund' and t.id <= s.transfer) as f on true
    order by o.n, s.place;
end;

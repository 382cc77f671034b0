-- A packet or a draw that was open when it was made is open whatever the clock says later. Where Postgres' clock goes back by minutes,
-- Redis gives out slots of it as before; that it opens in the future by the new clock would make each of them void, and its shard be
-- recovered again and again until the clock has come there once more. One that opens later (a drop of a rain) waits for its time.

-- Whether what was made at `created_at` and opens at `opens_at` is open at a moment.
create function is_open_at(opens_at timestamptz, created_at timestamptz, moment timestamptz) returns boolean
    language sql
    immutable
return opens_at <= moment or opens_at <= created_at;

-- Settles claims: a transfer from escrow to wallet each, and what is drained. A claim names its packet by its place
-- in packets, from 1. Amounts are passed in, because to subscript a large array in a row is slow; reconcile holds them against
-- the packet's.
--
-- For claims that can all be settled, as nearly always: when a packet is unknown, not open yet or closed, a slot does not follow
-- on those that are settled (HB002), or a slot or a user is taken (unique_violation), nothing happens, and
-- settle_claims_but_void settles the rest. Every packet and every wallet is
-- looked up once, by an index: the plan is made once, maybe while the tables are still empty, and what a batch costs must not
-- depend on their sizes.
--
-- Returns when it was settled and the packets that are drained now.
create or replace function settle_claims(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    packets uuid[], places integer[], slots integer[], users text[], amounts bigint[],
    out settled_at timestamptz, out drained uuid[], out void integer[])
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_material = off
as $$
declare
    escrows bigint[];
    assets  text[];
    one     text; -- the asset, when all packets hold the same: to look into a text[] takes as long as the place is far
    counts  integer[];
    wallets bigint[];
    sorted  constant uuid[] := array(select p from unnest(packets) as p order by p);
    first_packet constant uuid := sorted[1];
    last_packet  constant uuid := sorted[cardinality(sorted)];
    latest  constant timestamptz := latest_moment();
begin
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, packets);

    select array_agg(case when p.closed_at is null and is_open_at(p.opens_at, p.created_at, latest) then p.escrow end order by g.n),
           array_agg(p.asset order by g.n), array_agg(p.count order by g.n)
    into escrows, assets, counts
    from unnest(packets) with ordinality as g(id, n)
    left join packet as p on p.id = g.id;
    if array_position(escrows, null) is not null then
        raise exception 'a packet is unknown, not open yet or closed' using errcode = 'HB002';
    end if;

    if exists (
        select from (select place, min(slot) as first, max(slot) as last, count(*) as claims
                     from unnest(places, slots) as u(place, slot) group by place) as g
        where g.claims <> g.last - g.first + 1
           -- A slot that is settled is taken: transfer_slot says so. Asked for is the highest one, which one index has in its order: of a
           -- table that it believes to be empty, Postgres takes any. And between the packets, whose months alone are opened then.
           or g.first > coalesce((select max(t.slot) + 1 from transfer as t
                                  where t.subject = packets[g.place] and t.slot is not null
                                    and t.subject between first_packet and last_packet), 0)) then
        raise exception 'a slot does not follow on those that are settled' using errcode = 'HB002';
    end if;

    if assets[1] = all (assets) then
        one := assets[1];
    end if;

    -- Twice when a wallet is new; by a statement of its own, so that one that another transaction makes meanwhile is seen.
    loop
        wallets := array(
            select (select id from account where owner = g.user_id and kind = 'wallet' and asset = coalesce(one, assets[g.place]))
            from unnest(users, places) with ordinality as g(user_id, place, n)
            order by g.n);
        exit when array_position(wallets, null) is null;
        insert into account (kind, owner, asset)
        select distinct 'wallet', g.user_id, coalesce(one, assets[g.place])
        from unnest(users, places, wallets) as g(user_id, place, wallet)
        where g.wallet is null
        order by 2, 3
        on conflict do nothing;
    end loop;

    insert into transfer (subject, debit, credit, amount, kind, slot)
    select packets[g.place], escrows[g.place], g.wallet, g.amount, 'claim', g.slot
    from unnest(places, wallets, amounts, slots) as g(place, wallet, amount, slot);

    drained := close_drained(array(
        select packets[g.place] from unnest(places, slots) as g(place, slot) where g.slot = counts[g.place] - 1));
    settled_at := now();
    void := '{}';
end
$$;

-- As settle_claims, for claims of which some are void: the packet is unknown, not open yet or closed, the slot or the user is
-- taken, or the slot does not follow on those that are settled. A slot that is left out is never handed out again, so to settle
-- beyond it would strand its share. A void claim was never answered as settled. Seldom used, and slower.
--
-- Returns also which of the given claims (from 1) are void.
create or replace function settle_claims_but_void(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    packets uuid[], places integer[], slots integer[], users text[], amounts bigint[],
    out settled_at timestamptz, out drained uuid[], out void integer[])
    language plpgsql
as $$
begin
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, packets);

    insert into account (kind, owner, asset)
    select distinct 'wallet', g.user_id, p.asset
    from unnest(places, users) as g(place, user_id)
    join packet as p on p.id = packets[g.place]
    where not exists (select from account as a
                      where a.owner = g.user_id and a.kind = 'wallet' and a.asset = p.asset)
    order by 2, 3
    on conflict do nothing;

    with open as (
        select p.id, p.escrow, p.asset, coalesce((select max(slot) + 1 from transfer where subject = p.id and slot is not null), 0) as next
        from packet as p
        where p.id = any (packets) and p.closed_at is null and is_open_at(p.opens_at, p.created_at, latest_moment())
    ), free as ( -- slots and users that are not taken, also not by an earlier claim of these
        select distinct on (c.packet, c.wallet) c.*
        from (select distinct on (p.id, u.slot) p.escrow, w.id as wallet, u.amount, p.id as packet, u.slot, u.n, p.next
              from unnest(places, slots, users, amounts) with ordinality as u(place, slot, user_id, amount, n)
              join open as p on p.id = packets[u.place] and u.slot >= p.next
              join account as w on w.owner = u.user_id and w.kind = 'wallet' and w.asset = p.asset
              where not exists (select from transfer as t where t.credit = w.id and t.subject = p.id and t.slot is not null)
              order by p.id, u.slot, u.n) as c
        order by c.packet, c.wallet, c.n
    ), given as ( -- as far as they follow on each other
        select * from (select f.*, row_number() over (partition by f.packet order by f.slot) as nth from free as f) as f
        where f.slot = f.next + f.nth - 1
    ), settled as (
        insert into transfer (subject, debit, credit, amount, kind, slot)
        select packet, escrow, wallet, amount, 'claim', slot from given order by n
        on conflict do nothing
        returning subject, slot, credit
    )
    select array(select n::integer from generate_subscripts(users, 1) as n
                 except
                 select g.n::integer from given as g
                 join settled as s on s.subject = g.packet and s.slot = g.slot and s.credit = g.wallet
                 order by 1)
    into void;

    drained := close_drained(packets);
    settled_at := now();
end
$$;

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

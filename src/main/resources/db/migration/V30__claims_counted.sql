-- How many of a packet's slots are settled stands in the row of its escrow, which each settlement of it writes anyway. To look for the
-- highest settled slot was an eighth of what Postgres does for a claim where many packets are claimed at once.

-- Waits for the settlements that are under way, and they for it: what is counted here stays true.
alter table account
    -- Of an escrow: the slots of its packet that are settled, which are those from 0 on, without gaps. 0 for any other account, and for the
    -- packets that were closed before this was counted.
    add column claims integer not null default 0,
    -- Every row that there is has the default.
    add constraint account_counts_claims check (claims >= 0 and (claims = 0 or kind = 'escrow')) not valid;

update account
set claims = c.claims
from (select p.escrow, (select max(t.slot) + 1 from transfer as t where t.subject = p.id and t.slot is not null) as claims
      from packet as p where p.closed_at is null) as c
where account.id = c.escrow and c.claims > 0;

-- Balances and counts of claims follow the transfers, once a statement, in the order of account ids: two transactions that each insert their
-- transfers in one statement never wait for each other in a circle. The join is held to a nested loop to keep that order.
create or replace function transfer_moves_balances() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
    set enable_nestloop = on -- also within a settlement that does its own work without
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    accounts bigint;
    moved    bigint;
    mixed    boolean;
    skipped  boolean;
begin
    with delta as (
        select id, sum(amount)::bigint as amount, count(slot)::integer as claims, max(slot) + 1 as next
        from (select debit as id, -amount as amount, slot from inserted
              union all
              select credit, amount, null from inserted) as sides
        group by id
        order by id
    ), done as (
        update account set balance = account.balance + delta.amount, claims = account.claims + delta.claims
        from delta where account.id = delta.id
        returning account.asset, account.claims <> delta.next as skips
    )
    select (select count(*) from delta), count(*), min(asset) <> max(asset), bool_or(skips)
    from done into accounts, moved, mixed, skipped;
    if skipped then -- a slot is settled once: so as many as the highest one says are all up to it
        raise exception 'a slot does not follow on those that are settled' using errcode = 'HB002';
    end if;
    if accounts <> moved then
        raise exception 'a transfer names an account that does not exist' using errcode = 'foreign_key_violation';
    end if;

    if exists (select from inserted where kind in ('deposit', 'withdrawal', 'send', 'fund', 'reversal')
               and not exists (select from command where command.id = inserted.subject)) then
        raise exception 'nobody asked for a transfer: transfer_has_command'
            using errcode = 'foreign_key_violation', constraint = 'transfer_has_command';
    end if;

    if exists (select from inserted where kind = 'reversal') then -- else nothing of the table is opened
        if exists (select from inserted where kind = 'reversal'
                   and not exists (select from reversal as r join transfer as t on t.subject = r.subject and t.id = r.transfer
                                   where r.command = inserted.subject and t.amount = inserted.amount)) then
            raise exception 'a reversal names the transfer that it reverses: transfer_reverses_one'
                using errcode = 'foreign_key_violation', constraint = 'transfer_reverses_one';
        end if;
    end if;

    -- Mostly all accounts of a statement hold the same asset, and then so do the two of every transfer.
    if mixed and exists (select from inserted
               join account as debited on debited.id = inserted.debit
               join account as credited on credited.id = inserted.credit
               where debited.asset <> credited.asset) then
        raise exception 'a transfer moves one asset: transfer_one_asset' using errcode = 'check_violation', constraint = 'transfer_one_asset';
    end if;
    return null;
end
$$;

-- A statement makes claims, or it makes no claims. Who says that it tells of its claims itself knows their packets' shards: to look up every
-- packet once more was a twelfth of what Postgres does for a claim where many packets are claimed at once.
create or replace function transfer_to_outbox() returns trigger
    language plpgsql
    -- The plan is made once, maybe while the tables are still empty.
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

-- Settles claims: a transfer from escrow to wallet each, and what is drained. A claim names its packet by its place
-- in packets, from 1. Amounts are passed in, because to subscript a large array in a row is slow; reconcile holds them against
-- the packet's.
--
-- For claims that can all be settled, as nearly always: when a packet is unknown, not open yet or closed, a slot does not follow
-- on those that are settled (HB002, the latter by transfer_moves_balances), or a slot or a user is taken (unique_violation), nothing
-- happens, and settle_claims_but_void settles the rest. Every packet and every wallet is
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
    homes   smallint[]; -- the shards
    wallets bigint[];
    latest  constant timestamptz := latest_moment();
begin
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, packets);

    select array_agg(case when p.closed_at is null and is_open_at(p.opens_at, p.created_at, latest) then p.escrow end order by g.n),
           array_agg(p.asset order by g.n), array_agg(p.count order by g.n), array_agg(p.shard order by g.n)
    into escrows, assets, counts, homes
    from unnest(packets) with ordinality as g(id, n)
    left join packet as p on p.id = g.id;
    if array_position(escrows, null) is not null then
        raise exception 'a packet is unknown, not open yet or closed' using errcode = 'HB002';
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

    perform set_config('hongbao.tells_claims', 'on', true);
    insert into transfer (subject, debit, credit, amount, kind, slot)
    select packets[g.place], escrows[g.place], g.wallet, g.amount, 'claim', g.slot
    from unnest(places, wallets, amounts, slots) as g(place, wallet, amount, slot);

    perform set_config('hongbao.tells_claims', 'off', true);
    insert into outbox (shard, type, subjects, firsts, lasts, events)
    select homes[g.place], 'claim.settled', array_agg(packets[g.place]), array_agg(g.first), array_agg(g.last), sum(g.last - g.first + 1)
    from (select place, min(slot) as first, max(slot) as last from unnest(places, slots) as u(place, slot) group by place) as g
    group by 1;

    drained := close_drained(array(
        select packets[g.place] from unnest(places, slots) as g(place, slot) where g.slot = counts[g.place] - 1));
    settled_at := now();
    void := '{}';
end
$$;

-- Tells how far open packets have come, those that have come further than was told. Not the drops of a rain, whose channel's name says
-- what they are: rain.caught tells of all of them.
create or replace function feed_progress(packets uuid[]) returns void
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
    select array_agg(p.group_id order by g.id), array_agg(g.id order by g.id), array_agg(p.claimed order by g.id)
    into groups, further, claims
    from unnest(packets) as g(id)
    cross join lateral (select group_id, closed_at, (select a.claims from account as a where a.id = escrow) as claimed
                        from packet where id = g.id limit 1) as p
    where p.closed_at is null and p.group_id not like 'rain:%'
      and p.claimed > coalesce((select claimed from group_event where subject = g.id and type = 'packet.progress'), 0);
    if further is not null then
        perform feed_append(groups, array_fill('packet.progress'::text, array[cardinality(further)]), further, claims);
    end if;
end
$$;

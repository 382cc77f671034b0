-- What two settlements lock, they lock in one order, and what some void claims cost does not grow with their square.

-- Moves cursors, all or none: the first effect of every settlement. A stale writer (an old generation, or another owner was
-- quicker) gets HB001, and the whole statement with all its other effects is undone. So does one that does not know that one of
-- the packets or draws was set aside, see quarantine_unit: it gets HB003.
create or replace function move_cursors(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[], units uuid[] default '{}')
    returns void
    language plpgsql
as $$
declare
    moved bigint;
begin
    perform from shard where id = any (shards) order by id for no key update; -- an update takes them as it finds them
    update shard set last_seq = m.to_seq
    from (select * from unnest(shards, epochs, nonces, from_seqs, to_seqs) as u(id, epoch, nonce, from_seq, to_seq)
          order by id) as m
    where shard.id = m.id and shard.epoch = m.epoch and shard.nonce = m.nonce and shard.last_seq = m.from_seq;
    get diagnostics moved = row_count;
    if moved <> cardinality(shards) then
        raise exception 'stale cursor' using errcode = 'HB001';
    end if;
    if exists (select from quarantine_unit as q where q.id = any (units)) then
        raise exception 'a packet or a draw is set aside' using errcode = 'HB003';
    end if;
end
$$;

-- Settles closes: the escrow's remainder goes back to the account that paid, once. A packet that is closed already is left alone; so is
-- one that is far from due (latest_moment), unless its close names an ending: that is asked for, and was decided by the script. One
-- whose remainder cannot be paid fails: it must not close with money that nobody gets.
--
-- Takes of each close its packet; 'cancelled' or 'closed' and who asked for it, both null for one whose time ran out.
-- Returns the packets that are closed now, and their shards.
create or replace function settle_closes(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    packets uuid[], endings text[] default '{}', enders text[] default '{}',
    out settled_at timestamptz, out closed uuid[], out closed_shards smallint[])
    language plpgsql
    -- The plan is made once, maybe while the tables are still empty: what a batch costs must not depend on their sizes.
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, packets);
    if array_remove(endings, null) <> '{}' then
        perform drops_never_fall(packets, endings);
    end if;

    -- The accounts before the feeds that a packet's end is told in: a settlement of claims holds its accounts when it tells of an end.
    perform from packet where id = any (packets) order by id for no key update;
    perform lock_accounts(array(select unnest(array[p.escrow, p.refund_to]) from packet as p
                                where p.id = any (packets) and p.closed_at is null));

    with due as (
        select p.id, p.escrow, p.refund_to, (select e.balance from account as e where e.id = p.escrow) as remainder, g.ending, g.ender
        from (select distinct on (u.id) u.id, u.ending, u.ender
              from unnest(packets, endings, enders) with ordinality as u(id, ending, ender, n)
              order by u.id, u.ending is null, u.n) as g
        join packet as p on p.id = g.id
        where p.closed_at is null and (g.ending is not null or p.expires_at <= latest_moment())
        order by p.id
        for no key update of p
    ), refunds as (
        insert into transfer (subject, debit, credit, amount, kind)
        select d.id, d.escrow, d.refund_to, d.remainder, 'refund' -- what is unknown is null, and refused
        from due as d
        where d.remainder is distinct from 0
    ), ended as (
        update packet set closed_at = now(), refund = d.remainder, ending = d.ending, ended_by = d.ender
        from due as d
        where packet.id = d.id
        returning packet.id, packet.shard
    )
    select coalesce(array_agg(id), '{}'), coalesce(array_agg(shard), '{}') from ended into closed, closed_shards;
    settled_at := now();
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
                 select max(n)::integer -- no join: the planner takes both for one row, and compares each with each
                 from (select packet, slot, wallet, n from given
                       union all
                       select subject, slot, credit, null from settled) as each
                 group by packet, slot, wallet
                 having count(*) = 2
                 order by 1)
    into void;

    drained := close_drained(packets);
    settled_at := now();
end
$$;

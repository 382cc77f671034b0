-- Settles ends. Of a period (not null): what nobody took returns to the stock, once. Of a draw (period null): costs still held
-- go back, what is left in the escrows and the proceeds go to the owner, and the final table is checked and stored, once. What
-- has ended already, or is far from its end (latest_moment), is left alone.
--
-- What was played of a prize is the number of its latest play, one step down an index: plays are numbered from 1 without gaps. To count
-- them took longer than a statement may, from some millions on; reconcile does, and holds the count against the number. A draw that is
-- open has all its plays here: its month is not archived.
--
-- Locks: the shards, the periods' prizes, the draws, their held requests, then all accounts in one order, before the first of them moves.
--
-- Returns the draws that are closed now, and those of them whose table is not true.
create or replace function settle_draw_ends(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    draws uuid[], periods integer[],
    out settled_at timestamptz, out closed uuid[], out wrong uuid[])
    language plpgsql
    -- The plan is made once, maybe while the tables are still empty: what a close costs must not depend on their sizes.
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    -- Plays are looked up between these draws: their months alone are opened then.
    sorted  constant uuid[] := array(select d from unnest(draws) as d order by d);
    first_draw constant uuid := sorted[1];
    last_draw  constant uuid := sorted[cardinality(sorted)];
begin
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, draws);

    with ended as (
        update period as p set ended_at = now()
        from (select distinct draw, n from unnest(draws, periods) as g(draw, n) where g.n is not null) as g
        where p.draw = g.draw and p.n = g.n and p.ended_at is null and p.ends_at <= latest_moment()
        returning p.draw, p.n
    ), withdrawn as (
        update release as r set withdrawn = true
        from ended as e
        where r.draw = e.draw and r.period = e.n
          and (select true from play as y
               where y.draw = r.draw and y.period = r.period and y.prize = r.prize and y.release = r.n
                 and y.draw between first_draw and last_draw) is not true
        returning r.draw, r.prize
    )
    update prize as z set planned = z.planned - w.count
    from (select draw, prize, count(*) from withdrawn group by draw, prize) as w
    where z.draw = w.draw and z.n = w.prize;

    closed := array(select d.id from draw as d
                    where d.closed_at is null and d.closes_at <= latest_moment()
                      and d.id = any (array(select g.draw from unnest(draws, periods) as g(draw, n) where g.n is null))
                    order by d.id for update);
    perform close_accounts(closed);
    update draw as d
    set closed_at = now(),
        final_table = (select jsonb_build_object(
                                  'checked', bool_and(z.issued = p.plays and coalesce(z.issued <= z.stock, true)),
                                  'prizes', jsonb_agg(jsonb_build_object(
                                      'prize', z.n, 'name', z.name, 'stock', z.stock, 'issued', z.issued,
                                      'played', p.plays, 'left', z.stock - z.issued) order by z.n))
                       from prize as z
                       cross join lateral (select coalesce((select max(y.nth) from play as y
                                                            where y.draw = z.draw and y.prize = z.n
                                                              and y.draw between first_draw and last_draw), 0) as plays) as p
                       where z.draw = d.id)
    where d.id = any (closed);
    -- A table that is not true closes all the same, and the alarm is raised: an exception here would block the journal.
    wrong := array(select d.id from draw as d
                   where d.id = any (closed) and not (d.final_table ->> 'checked')::boolean);
    settled_at := now();
end
$$;

-- The money of draws that close: costs still held go back to who paid them, and what is left in the draws' accounts to the owner. A step of
-- settle_draw_ends, which has locked the draws.
create function close_accounts(draws uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    held constant uuid[] := array(select t.id from play_request as t
                                  where t.draw = any (draws) and t.status = 'held' order by t.id for update);
begin
    -- Wallets that are missing: a statement of its own, so that one that another transaction makes meanwhile is seen below.
    insert into account (kind, owner, asset)
    select distinct 'wallet', d.owner, a.asset
    from draw as d join account as a on a.owner = d.id::text and a.kind in ('escrow', 'hold')
    where d.id = any (draws)
    order by 2, 3
    on conflict do nothing;

    -- Two statements move money below, and each locks in the order of ids only its own.
    perform lock_accounts(array(
        select x.id
        from draw as d
        join account as a on a.owner = d.id::text and a.kind in ('escrow', 'hold')
        cross join lateral (select a.id
                            union all
                            select w.id from account as w where w.owner = d.owner and w.kind = 'wallet' and w.asset = a.asset) as x
        where d.id = any (draws)
        union
        select w.id
        from play_request as t
        join draw as d on d.id = t.draw
        join account as h on h.id = d.hold
        join account as w on w.owner = t.user_id and w.kind = 'wallet' and w.asset = h.asset
        where t.id = any (held)));

    insert into transfer (subject, debit, credit, amount, kind)
    select d.id, d.hold, w.id, t.cost, 'return'
    from play_request as t
    join draw as d on d.id = t.draw
    join account as h on h.id = d.hold
    join account as w on w.owner = t.user_id and w.kind = 'wallet' and w.asset = h.asset
    where t.id = any (held);
    update play_request as t set status = 'returned', reason = 'closed', decided_at = now() where t.id = any (held);

    -- In as many transfers as their bound asks for: what many have paid may be more than any one may pay.
    insert into transfer (subject, debit, credit, amount, kind)
    select d.id, a.id, w.id, least(a.balance - part * 99999999999999, 99999999999999),
           case a.kind when 'escrow' then 'refund' else 'proceeds' end
    from draw as d
    join account as a on a.owner = d.id::text and a.kind in ('escrow', 'hold')
    join account as w on w.owner = d.owner and w.kind = 'wallet' and w.asset = a.asset
    cross join lateral generate_series(0, (a.balance - 1) / 99999999999999) as part
    where d.id = any (draws) and a.balance > 0;
end
$$;

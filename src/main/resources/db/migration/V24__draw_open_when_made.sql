-- A draw that was open when it was made is open whatever the clock says later: as of packets, see V23.

-- Settles requests: plays and awards of the accepted, the cost back to the wallet for the refused.
--
-- A request is void, and changes nothing, when its draw is unknown or closed, when it was played before, when its hold is not
-- there (any more), when a release is taken, when its places do not follow on those that are settled, or when it would issue more
-- than the stock; also when it played by a time that has not come (latest_moment): its own, the draw's opening, or the moment of a
-- release, which only a guarantee may take before. A void request was never answered as settled. A cost that the end of its draw gave
-- back is not given back again, and that is no fault.
--
-- Everything is given as parallel arrays: draws, each once; requests, which name their draw by its place, from 1; plays, which
-- name their request likewise and stand in its order. Counters are text, '' for none; reasons are null for the accepted; a
-- request's places begin at its first; loadeds are null without a schedule. Returns when it was settled, the void requests' places, and
-- each play's code, null for none.
create or replace function settle_plays(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    draws uuid[],
    in_draws integer[], ids uuid[], users text[], attempts uuid[], ats timestamptz[], firsts bigint[], counters text[],
    loadeds integer[], reasons text[],
    in_requests integer[], parts smallint[], prizes smallint[], rounds bigint[], periods integer[], releases integer[],
    out settled_at timestamptz, out void integer[], out codes text[])
    language plpgsql
    -- The plan is made once, maybe while the tables are still empty: what a batch costs must not depend on their sizes. So arrays
    -- are joined by a hash; and all that is looked up is looked up by an index, one by one: a limit, or a select for a value, holds the
    -- planner to it, where it would read all of the table for an exists.
    set plan_cache_mode = force_generic_plan
    set enable_nestloop = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    opens   timestamptz[]; -- of each draw; -infinity for one that was open when it was made, null for one that is unknown or closed
    holds   bigint[]; -- of each draw; null for a free one
    nexts   bigint[]; -- the place of each draw's next play
    nths    bigint[]; -- of each play; null for one that is void
    escrows bigint[]; -- that each play's award comes from; null for none
    awards  bigint[];
    more    integer[];
    paid    uuid[]; -- requests whose cost is spent now
    done    bigint;
    latest  constant timestamptz := latest_moment();
    -- Plays are looked up between these draws: their months alone are opened then. And in an order that one index has: of a table that
    -- it believes to be empty, Postgres takes any.
    sorted  constant uuid[] := array(select d from unnest(draws) as d order by d);
    first_draw constant uuid := sorted[1];
    last_draw  constant uuid := sorted[cardinality(sorted)];
begin
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, draws);

    select array_agg(d.opens_at order by g.n), array_agg(d.hold order by g.n),
           array_agg(coalesce((select max(y.seq) + 1 from play as y
                               where y.draw = g.id and y.draw between first_draw and last_draw), 0) order by g.n)
    into opens, holds, nexts
    from unnest(draws) with ordinality as g(id, n)
    left join lateral (select case when x.opens_at <= x.created_at then '-infinity' else x.opens_at end as opens_at, x.hold
                       from draw as x where x.id = g.id and x.closed_at is null limit 1) as d on true;

    void := array(
        select g.n::integer
        from unnest(in_draws, ids, attempts, ats, firsts, reasons) with ordinality as g(draw, id, attempt, at, first, reason, n)
        where opens[g.draw] is null
           or (g.reason is null and (g.first < nexts[g.draw] or greatest(g.at, opens[g.draw]) > latest))
           or (select true from play as y
               where y.request between g.id and g.id and y.draw between first_draw and last_draw order by y.request limit 1)
           or (holds[g.draw] is not null
               and (select t.status = 'held' and t.attempt = g.attempt from play_request as t where t.id = g.id) is not true)
        union
        select g.n::integer
        from (select n, row_number() over (partition by id order by n) as again
              from unnest(ids) with ordinality as u(id, n)) as g
        where g.again > 1
        union
        select p.request
        from unnest(in_requests, prizes, periods, releases) as p(request, prize, period, release)
        where p.period is not null
          and ((select true from play as y
                where y.draw = draws[in_draws[p.request]] and y.period between p.period and p.period
                  and y.prize = p.prize and y.release = p.release and y.draw between first_draw and last_draw
                order by y.period limit 1)
               or (select r.moment > latest and jsonb_array_length(d.definition -> 'guarantees') = 0
                   from release as r join draw as d on d.id = r.draw
                   where r.draw = draws[in_draws[p.request]] and r.period = p.period and r.prize = p.prize and r.n = p.release)));

    -- Until nothing more is void: what is left may fit now, or lies beyond a gap.
    loop
        select array_agg(case when not o.out then o.nth end order by o.n), array_agg(o.escrow order by o.n),
               array_agg(o.amount order by o.n),
               array_agg(distinct o.request) filter (where not o.out and (o.nth > o.stock or o.seq <> o.next))
        into nths, escrows, awards, more
        from (select p.n, p.request, p.out, z.stock, z.escrow, z.amount, firsts[p.request] + p.part as seq,
                     z.issued + row_number() over (partition by p.draw, p.prize, p.out order by p.n) as nth,
                     nexts[p.draw] + row_number() over (partition by p.draw, p.out order by p.n) - 1 as next
              from (select u.n, u.request, u.part, u.prize, in_draws[u.request] as draw, u.request = any (void) as out
                    from unnest(in_requests, parts, prizes) with ordinality as u(request, part, prize, n)) as p
              left join lateral (select x.stock, x.issued, x.escrow, x.amount from prize as x
                                 where x.draw = draws[p.draw] and x.n = p.prize limit 1) as z on true) as o;
        exit when more is null;
        void := void || more;
    end loop;

    insert into play (draw, seq, request, nth, round, at, prize, part, period, release, loaded, user_id)
    select draws[g.draw], g.first + p.part, g.id, p.nth, p.round, g.at, p.prize, p.part, p.period, p.release, g.loaded, g.user_id
    from unnest(in_requests, parts, prizes, rounds, periods, releases, nths) as p(request, part, prize, round, period, release, nth)
    join unnest(in_draws, ids, users, ats, firsts, loadeds) with ordinality as g(draw, id, user_id, at, first, loaded, n)
         on g.n = p.request
    where p.request <> all (void);

    if exists (select from code as c where c.draw = any (draws)) then
        codes := array(select (select c.code from code as c
                               where c.draw = draws[in_draws[p.request]] and c.prize = p.prize and c.nth = p.nth)
                       from unnest(in_requests, prizes, nths) with ordinality as p(request, prize, nth, n) order by p.n);
    end if;

    if cardinality(array_remove(escrows, null)) > 0 or cardinality(array_remove(reasons, null)) > 0 then
        -- Wallets that are missing: a statement of its own, so that one that another transaction makes meanwhile is seen below.
        insert into account (kind, owner, asset)
        select distinct 'wallet', g.user_id, (select e.asset from account as e where e.id = p.escrow)
        from unnest(in_requests, escrows) as p(request, escrow)
        join unnest(users) with ordinality as g(user_id, n) on g.n = p.request
        where p.escrow is not null and p.request <> all (void)
          and (select a.id from account as a
               where a.owner = g.user_id and a.kind = 'wallet'
                 and a.asset = (select e.asset from account as e where e.id = p.escrow)) is null
        order by 2, 3
        on conflict do nothing;

        -- One statement for all transfers, so that balances move in the order of account ids.
        insert into transfer (subject, debit, credit, amount, kind)
        select m.draw, m.debit, w.id, m.amount, m.kind
        from (select draws[in_draws[p.request]] as draw, p.escrow as debit, p.amount, 'award' as kind, g.user_id
              from unnest(in_requests, escrows, awards) as p(request, escrow, amount)
              join unnest(users) with ordinality as g(user_id, n) on g.n = p.request
              where p.escrow is not null and p.request <> all (void)
              union all
              select draws[g.draw], holds[g.draw], (select t.cost from play_request as t where t.id = g.id), 'return', g.user_id
              from unnest(in_draws, ids, users, reasons) with ordinality as g(draw, id, user_id, reason, n)
              where g.reason is not null and g.n <> all (void)) as m
        cross join lateral (select x.id from account as x
                            where x.owner = m.user_id and x.kind = 'wallet'
                              and x.asset = (select d.asset from account as d where d.id = m.debit) limit 1) as w;
        get diagnostics done = row_count;
        if done <> (select count(*) from unnest(in_requests, escrows) as p(request, escrow)
                    where p.escrow is not null and p.request <> all (void))
                 + (select count(*) from unnest(reasons) with ordinality as g(reason, n)
                    where g.reason is not null and g.n <> all (void)) then
            raise exception 'made % transfers, which are not all', done;
        end if;
        perform return_requests(array_agg(g.id), array_agg(g.reason))
        from unnest(ids, reasons) with ordinality as g(id, reason, n)
        where g.reason is not null and g.n <> all (void);
    end if;

    paid := array(select g.id from unnest(in_draws, ids, reasons) with ordinality as g(draw, id, reason, n)
                  where holds[g.draw] is not null and g.reason is null and g.n <> all (void));
    if cardinality(paid) > 0 then
        delete from play_request where id = any (paid);
        get diagnostics done = row_count;
        if done <> cardinality(paid) then
            raise exception 'spent the cost of % requests of %', done, cardinality(paid);
        end if;
    end if;

    insert into player as p (draw, user_id, counters)
    select distinct on (g.draw, g.user_id) draws[g.draw], g.user_id, string_to_array(g.counters, ',')::bigint[]
    from unnest(in_draws, users, counters) with ordinality as g(draw, user_id, counters, n)
    where g.counters <> '' and g.n <> all (void)
    order by g.draw, g.user_id, g.n desc
    on conflict (draw, user_id) do update set counters = excluded.counters;

    -- An owner that gives back what it saw held, and meanwhile the end of the draw gave it back: nothing is left to do, and nothing contradicts.
    void := array(select v from unnest(void) as v
                  where reasons[v] is null
                     or (select t.status = 'returned' and t.reason = 'closed' and t.attempt = attempts[v]
                         from play_request as t where t.id = ids[v]) is not true);
    settled_at := now();
end
$$;

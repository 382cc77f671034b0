-- Draws: holding costs, settling the journal's plays, planning and ending periods.

-- Updates the issued counts of prizes by the inserted plays, once a statement, in the order of draws and prizes.
create or replace function plays_are_issued() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
    set enable_nestloop = on
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    prizes bigint;
    issued bigint;
begin
    with won as (
        select draw, prize, sum(plays)::bigint as plays, max(round) as round,
               (array_agg(plays order by round desc))[1] as in_round
        from (select draw, prize, round, count(*) as plays from inserted group by draw, prize, round) as by_round
        group by draw, prize
        order by draw, prize
    ), done as (
        update prize as z
        set issued = z.issued + w.plays,
            round = greatest(z.round, w.round),
            round_issued = case when w.round > z.round then w.in_round
                                when w.round = z.round then z.round_issued + w.in_round
                                else z.round_issued end
        from won as w
        where z.draw = w.draw and z.n = w.prize
        returning 1
    )
    select (select count(*) from won), count(*) from done into prizes, issued;
    if prizes <> issued then
        raise exception 'a play names a prize that does not exist' using errcode = 'foreign_key_violation';
    end if;
    return null;
end
$$;
revoke execute on function plays_are_issued() from public;

-- Holds the costs of requests of paid draws, or returns their earlier outcome: the first step of a paid play. The requests have different
-- users.
--
-- Settled plays refuse a request before a hold: counters and issues only grow, so the script would refuse it, too. Accepted plays are left
-- to the script. A request that is held or played keeps its outcome in any case.
--
-- Takes the requests' ids, draws, users, numbers of plays and fresh attempts. For the limits: the plays that the draw allows a user in all
-- and a day (0: any number), and the draw's day in its zone, as days since 1970-01-01. Without them, 'limit', 'day' and 'exhausted' do not
-- occur.
--
-- Returns for each, in order, its attempt and:
-- 'held'      the cost is in the draw's hold account; of an earlier hold, its attempt is returned
-- 'settled'   it was played before
-- 'reused'    the key was used with another number of plays
-- 'closed'    the draw is closed; nothing is changed
-- 'limit'     the user has had too many plays; nothing is changed
-- 'day'       the user has had too many plays that day; nothing is changed
-- 'exhausted' the draw has fewer prizes left; nothing is changed
-- 'poor'      the wallet holds less than the cost; nothing is changed
-- 'frozen'    the user is frozen; nothing is changed
-- 'blocked'   the user or the draw's group is blocked; nothing is changed
-- 'unknown'   there is no such paid draw; a restored backup may lack it
create or replace function hold_plays(
    ids uuid[], draws uuid[], users text[], counts smallint[], attempts uuid[],
    totals bigint[] default null, per_days bigint[] default null, days bigint[] default null)
    returns table (status text, attempt uuid)
    language plpgsql
    security definer -- it locks wallets, whose balances only transfers may change
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
    -- One plan for all calls, perhaps made while the tables are empty: the cost must not depend on the tables' sizes. So each look-up uses
    -- an index, one by one; a limit, or a select for a value, forces it.
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $$
declare
    known   uuid[]; -- the draws, each once
    holds   bigint[]; -- of the known draws; null for an unknown or free one, also below
    assets  text[];
    costs   bigint[];
    groups  text[];
    closed  boolean[];
    lefts   bigint[]; -- unissued prizes; null when a prize has no limit
    places  integer[]; -- the place of each request's draw among them
    wallets bigint[]; -- of each request
    given   uuid[];
    answers text[];
begin
    -- A wait for a lock holds up the requests of the same statement, and the requests after it. So it is short for many and longer for one.
    perform set_config('lock_timeout', case when cardinality(ids) > 1 then '1s' else '3s' end, true);
    -- The draws first: a close waits for current holds, and later holds see it. A share lock of the draws' rows would starve the close.
    perform pg_advisory_xact_lock_shared(g.lock)
    from (select distinct hashtextextended('holds ' || draw, 0) as lock from unnest(draws) as draw order by lock) as g;

    select array_agg(g.id order by g.id), array_agg(d.hold order by g.id), array_agg(d.asset order by g.id),
           array_agg(d.cost order by g.id), array_agg(d.group_id order by g.id), array_agg(d.closed order by g.id),
           array_agg(d.prizes_left order by g.id)
    into known, holds, assets, costs, groups, closed, lefts
    from (select distinct id from unnest(draws) as id) as g
    left join lateral (select x.hold, x.cost, x.group_id, x.closed_at is not null as closed, h.asset,
                              (select case when bool_and(z.stock is not null) then sum(z.stock - z.issued)::bigint end
                               from prize as z where z.draw = x.id) as prizes_left
                       from draw as x join account as h on h.id = x.hold
                       where x.id = g.id limit 1) as d on true;
    places := array(select array_position(known, g.draw) from unnest(draws) with ordinality as g(draw, n) order by g.n);
    wallets := array(select (select x.id from account as x
                             where x.owner = g.user_id and x.kind = 'wallet' and x.asset = assets[g.place])
                     from unnest(users, places) with ordinality as g(user_id, place, n) order by g.n);
    -- Wallets and hold accounts in the order of their ids, like every transfer. Until the commit, no other transaction can hold these
    -- requests, and the next statement sees their earlier holds and settlements.
    perform lock_accounts(wallets || holds);

    select array_agg(coalesce(case when t.status = 'held' then t.attempt end, g.attempt) order by g.n),
           array_agg(case
                         when holds[g.place] is null then 'unknown'
                         when coalesce(nullif(s.plays, 0), case when t.status = 'held' then t.plays end) <> g.plays then 'reused'
                         when s.plays > 0 then 'settled'
                         when t.status = 'held' then 'held'
                         when closed[g.place] then 'closed'
                         when g.total > 0 and coalesce(c.counters[1], 0) + g.plays > g.total then 'limit'
                         when g.per_day > 0 and coalesce(case when c.counters[2] >= g.day then c.counters[3] end, 0) + g.plays > g.per_day
                             then 'day'
                         when totals is not null and lefts[g.place] < g.plays then 'exhausted'
                         when coalesce((select w.balance from account as w where w.id = g.wallet), 0) < costs[g.place] * g.plays
                             then 'poor'
                         else 'new'
                     end order by g.n)
    into given, answers
    from unnest(ids, places, users, counts, attempts, wallets, totals, per_days, days)
         with ordinality as g(id, place, user_id, plays, attempt, wallet, total, per_day, day, n)
    left join lateral (select x.status, x.attempt, x.plays from play_request as x where x.id = g.id limit 1) as t on true
    left join lateral (select x.counters from player as x -- plays, day, plays that day, …
                       where x.draw = known[g.place] and x.user_id = g.user_id and (g.total > 0 or g.per_day > 0) limit 1) as c on true
    cross join lateral (select count(*) as plays from play as y where y.request = g.id and y.draw = known[g.place]) as s;

    -- A restricted user gets no new hold, and a blocked group's draw takes none.
    if exists (select from restriction) then
        answers := array(
            select case when g.answer <> 'new' then g.answer
                        when is_restricted('user', g.user_id, 'frozen') then 'frozen'
                        when is_restricted('user', g.user_id, 'blocked') or is_restricted('group', groups[g.place], 'blocked')
                            then 'blocked'
                        else g.answer end
            from unnest(answers, users, places) with ordinality as g(answer, user_id, place, n) order by g.n);
    end if;

    insert into play_request (id, draw, user_id, plays, cost, attempt, status)
    select g.id, known[g.place], g.user_id, g.plays, costs[g.place] * g.plays, g.attempt, 'held'
    from unnest(ids, places, users, counts, attempts, answers) as g(id, place, user_id, plays, attempt, answer)
    where g.answer = 'new'
    on conflict (id) do update -- returned before; play_request_sweep may delete it at this moment
    set plays = excluded.plays, cost = excluded.cost, attempt = excluded.attempt, status = 'held', reason = null, held_at = now(),
        decided_at = null;
    insert into transfer (subject, debit, credit, amount, kind)
    select known[g.place], g.wallet, holds[g.place], costs[g.place] * g.plays, 'cost'
    from unnest(places, wallets, counts, answers) as g(place, wallet, plays, answer)
    where g.answer = 'new';

    return query select case when a.answer = 'new' then 'held' else a.answer end, a.given
                 from unnest(answers, given) with ordinality as a(answer, given, n) order by a.n;
end
$$;
revoke execute on function hold_plays(uuid[], uuid[], text[], smallint[], uuid[], bigint[], bigint[], bigint[]) from public;
grant execute on function hold_plays(uuid[], uuid[], text[], smallint[], uuid[], bigint[], bigint[], bigint[]) to ${app};

-- Marks requests whose cost was returned.
create or replace function return_requests(ids uuid[], reasons text[]) returns void
    language sql
    set enable_nestloop = on -- also within a settlement, which turns it off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
    update play_request as t
    set status = 'returned', reason = g.reason, decided_at = now()
    from unnest(ids, reasons) as g(id, reason)
    where t.id = g.id
$$;

-- Deletes at most `page` requests whose cost was returned longer ago than `keep`; then their key is like a new one. Returns the number
-- deleted.
create or replace function play_request_sweep(keep interval, page integer) returns bigint
    language plpgsql
as $$
declare
    gone bigint;
begin
    delete from play_request as t
    where t.ctid = any (array(select o.ctid from play_request as o
                              where o.status = 'returned' and o.decided_at < now() - keep order by o.decided_at limit page))
      and t.status = 'returned'; -- a new attempt may hold it at this moment
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- Settles requests: plays and awards of the accepted ones, and returned costs of the refused ones.
--
-- A void request changes nothing, and was never answered as settled. It is void when:
-- - its draw is unknown or closed,
-- - it was played before,
-- - its hold is missing,
-- - a release is taken, withdrawn, or not planned,
-- - the last period on its schedule is not planned: a restore of Postgres lost the plan,
-- - its places do not follow the settled ones,
-- - it would issue more than the stock,
-- - its time, the draw's opening or a release's moment has not come (latest_moment). A guarantee may take a release early.
--
-- A cost that the end of its draw returned is not returned again, and the request is not void.
--
-- Takes parallel arrays:
-- - draws, each once.
-- - requests, with the place of their draw, from 1. firsts: the places of their first plays. counters: text, '' for none. loadeds: null
--   without a schedule. reasons: null for accepted requests.
-- - plays, with the place of their request, in its order.
--
-- Returns the time of settlement, the void requests' places, and each play's code, null for none.
create or replace function settle_plays(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    draws uuid[],
    in_draws integer[], ids uuid[], users text[], attempts uuid[], ats timestamptz[], firsts bigint[], counters text[],
    loadeds integer[], reasons text[],
    in_requests integer[], parts smallint[], prizes smallint[], rounds bigint[], periods integer[], releases integer[],
    out settled_at timestamptz, out void integer[], out codes text[])
    language plpgsql
    -- One plan for all calls, perhaps made while the tables are empty: the cost must not depend on the tables' sizes. So arrays are joined
    -- by a hash, and each look-up uses an index, one by one. A limit, or a select for a value, forces it; for an exists, the planner might
    -- read the whole table.
    set plan_cache_mode = force_generic_plan
    set enable_nestloop = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    opens   timestamptz[]; -- of each draw; -infinity if it was open when made, null if unknown or closed
    holds   bigint[]; -- of each draw; null for a free one
    nexts   bigint[]; -- the place of each draw's next play
    nths    bigint[]; -- of each play; null for a void one
    escrows bigint[]; -- the source of each play's award; null for none
    awards  bigint[];
    more    integer[];
    paid    uuid[]; -- requests whose cost is spent now
    done    bigint;
    latest  constant timestamptz := latest_moment();
    -- Plays are looked up between these draws, so only their months are opened. The order of one index forces this index: for a table that
    -- it believes empty, Postgres takes any.
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
        from unnest(in_draws, ids, attempts, ats, firsts, loadeds, reasons) with ordinality
                 as g(draw, id, attempt, at, first, loaded, reason, n)
        where opens[g.draw] is null
           or (g.reason is null and (g.first < nexts[g.draw] or greatest(g.at, opens[g.draw]) > latest))
           or (g.reason is null and g.loaded >= 0
               and (select true from period as e where e.draw = draws[g.draw] and e.n between g.loaded and g.loaded
                    order by e.n limit 1) is not true)
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
               or coalesce((select r.withdrawn or r.moment > latest and jsonb_array_length(d.definition -> 'guarantees') = 0
                            from release as r join draw as d on d.id = r.draw
                            where r.draw = draws[in_draws[p.request]] and r.period = p.period and r.prize = p.prize
                              and r.n = p.release), true)));

    -- Repeats until no more requests are void: the rest may fit now, or be beyond a gap.
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
        -- Missing wallets, in a statement of its own, so that the next one sees wallets that another transaction just made.
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

    -- A returned cost that the draw's end has returned meanwhile: nothing is left to do, and it is not void.
    void := array(select v from unnest(void) as v
                  where reasons[v] is null
                     or (select t.status = 'returned' and t.reason = 'closed' and t.attempt = attempts[v]
                         from play_request as t where t.id = ids[v]) is not true);
    settled_at := now();
end
$$;

-- Plans a period once: takes each prize's quota from the stock, at most the stock, and makes the releases. A planner that comes after
-- a later period plans nothing: each period takes what the earlier ones left, and a replay of the draw relies on that order.
--
-- Takes the moments of the whole quota, prize by prize, in the order of time. With less stock, the last moments are left out.
--
-- Returns whether this call planned it.
create or replace function plan_period(
    of_draw uuid, of_period integer, from_time timestamptz, to_time timestamptz, prizes smallint[], moments timestamptz[])
    returns boolean
    language plpgsql
as $$
begin
    -- A second planner waits here for the first and then sees its row, or plans if the first one failed.
    perform pg_advisory_xact_lock(hashtextextended('quotas ' || of_draw, 0));
    perform from draw as d where d.id = of_draw and d.closed_at is null for share;
    if not found then
        return false;
    end if;
    insert into period (draw, n, starts_at, ends_at)
    select of_draw, of_period, from_time, to_time
    where not exists (select from period as p where p.draw = of_draw and p.n >= of_period);
    if not found then
        return false;
    end if;
    insert into release (draw, period, prize, n, moment)
    select of_draw, of_period, g.prize, g.nth, g.moment
    from (select prize, moment, row_number() over (partition by prize order by moment, n) as nth,
                 row_number() over (partition by prize order by n) as pick
          from unnest(prizes, moments) with ordinality as u(prize, moment, n)) as g
    join prize as z on z.draw = of_draw and z.n = g.prize
    where g.pick <= z.stock - z.planned; -- the end of a period may free more stock meanwhile
    -- Not earlier: plays of these prizes wait for it.
    perform from prize as z where z.draw = of_draw order by z.n for no key update;
    update prize as z set planned = z.planned + r.count
    from (select prize, count(*) from release where draw = of_draw and period = of_period group by prize) as r
    where z.draw = of_draw and z.n = r.prize;
    return true;
end
$$;

-- Settles ends, once each.
-- - Of a period (not null): untaken releases return to the stock.
-- - Of a draw (period null): held costs go back. The escrows' rest and the proceeds go to the owner. The final table is checked and stored.
--
-- An end that is settled or not due (latest_moment) is left alone. A draw that pays a locked wallet is left alone, too; the shard's owner
-- writes its end again. Only a restore of Postgres, which lost an early end, leaves a draw in the journal that is not due.
--
-- A prize's played count is the number of its latest play, which one index look-up finds: plays are numbered from 1 without gaps. A count
-- of millions of plays exceeds the statement timeout; reconcile counts them, and compares.
--
-- Locks the draws' holds, the shards, the draws, the periods' prizes, then all accounts in one order before any moves. The locks on shard
-- and draw protect the draw's requests. plan_period locks a draw and its prizes in the same order.
--
-- Returns the draws that are closed now, among them the draws with a wrong table, and the draws that are not due.
create or replace function settle_draw_ends(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    draws uuid[], periods integer[],
    out settled_at timestamptz, out closed uuid[], out wrong uuid[], out early uuid[])
    language plpgsql
    -- One plan for all calls, perhaps made while the tables are empty: the cost must not depend on the tables' sizes.
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    -- Plays are looked up between these draws, so only their months are opened.
    sorted  constant uuid[] := array(select d from unnest(draws) as d order by d);
    first_draw constant uuid := sorted[1];
    last_draw  constant uuid := sorted[cardinality(sorted)];
begin
    perform pg_advisory_xact_lock(g.lock) -- see hold_plays
    from (select distinct hashtextextended('holds ' || draw, 0) as lock
          from unnest(draws, periods) as u(draw, n) where n is null order by lock) as g;
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, draws);

    closed := array(select d.id from draw as d
                    where d.closed_at is null and d.closes_at <= latest_moment()
                      and d.id = any (array(select g.draw from unnest(draws, periods) as g(draw, n) where g.n is null))
                    order by d.id for no key update);
    early := array(select d.id from draw as d
                   where d.closed_at is null and d.closes_at > latest_moment()
                     and d.id = any (array(select g.draw from unnest(draws, periods) as g(draw, n) where g.n is null)));
    closed := payable_draws(closed);
    perform from prize as z
    where z.draw = any (array(select g.draw from unnest(draws, periods) as g(draw, n) where g.n is not null))
    order by z.draw, z.n for no key update;

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
    -- A draw with a wrong table closes, too, and the server raises an alarm: an exception here would block the journal.
    wrong := array(select d.id from draw as d
                   where d.id = any (closed) and not (d.final_table ->> 'checked')::boolean);
    settled_at := now();
end
$$;

-- Returns the draws that pay only unlocked accounts, and locks these. A step of settle_draw_ends, which has locked the draws.
create or replace function payable_draws(draws uuid[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    paying  uuid[];
    wallets bigint[];
    held    bigint[];
begin
    select array_agg(x.draw), array_agg(x.wallet) into paying, wallets
    from (select d.id as draw, w.id as wallet -- its owner
          from draw as d
          join account as a on a.owner = d.id::text and a.kind in ('escrow', 'hold')
          join account as w on w.owner = d.owner and w.kind = 'wallet' and w.asset = a.asset
          where d.id = any (draws)
          union
          select d.id, w.id -- and whose costs are held
          from play_request as t
          join draw as d on d.id = t.draw
          join account as h on h.id = d.hold
          join account as w on w.owner = t.user_id and w.kind = 'wallet' and w.asset = h.asset
          where t.draw = any (draws) and t.status = 'held') as x;
    held := held_accounts(wallets);
    return array(select d from unnest(draws) as d
                 except
                 select x.draw from unnest(paying, wallets) as x(draw, wallet) where x.wallet = any (held)
                 order by 1);
end
$$;

-- Pays out draws that close: held costs to the players, and the rest of the draws' accounts to the owner. A step of settle_draw_ends, which
-- has locked the draws.
create or replace function close_accounts(draws uuid[]) returns void
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    held constant uuid[] := array(select t.id from play_request as t
                                  where t.draw = any (draws) and t.status = 'held');
begin
    -- Missing wallets, in a statement of its own, so that the next one sees wallets that another transaction just made.
    insert into account (kind, owner, asset)
    select distinct 'wallet', d.owner, a.asset
    from draw as d join account as a on a.owner = d.id::text and a.kind in ('escrow', 'hold')
    where d.id = any (draws)
    order by 2, 3
    on conflict do nothing;

    -- Two statements below move money, and each locks only its own accounts in the order of ids.
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

    -- Several transfers, since the players' sum may exceed the bound of one.
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

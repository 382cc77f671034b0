-- A play that is sure to be refused moves no money: its cost was held and given back, and each try left two transfers for ever. And the ends
-- of draws lock in the order in which periods are planned.

drop function hold_plays(uuid[], uuid[], text[], smallint[], uuid[]);

-- Holds the costs of requests of paid draws, each of another user, or says what became of them: the first step of a paid play.
--
-- What is settled refuses before anything is held: counters and issues only grow, so the script would refuse, too. What is accepted and
-- not settled is left to the script. A request that is held, or was played, is told so all the same.
--
-- Takes the requests' ids, draws, users, numbers of plays and fresh attempts; and how many plays each draw allows a user in all and a day
-- (0: any number), and the day it is, in the draw's zone, as days since 1970-01-01: these are null of a server of the version before, which
-- does not know 'limit', 'day' and 'exhausted'. Returns for each, in order, its attempt and:
-- 'held'      the cost is in the draw's hold account, now or since an earlier try, whose attempt it then is
-- 'settled'   it was played before
-- 'reused'    the same key was used with another number of plays
-- 'closed'    the draw is closed; nothing is changed
-- 'limit'     the user has had too many plays; nothing is changed
-- 'day'       the user has had too many that day; nothing is changed
-- 'exhausted' the draw has fewer prizes left; nothing is changed
-- 'poor'      the wallet holds less than the cost; nothing is changed
-- 'frozen'    the user is; nothing is changed
-- 'blocked'   the user is, or the draw's group; nothing is changed
-- 'unknown'   there is no such paid draw (any more: a restored backup may lack it)
create function hold_plays(
    ids uuid[], draws uuid[], users text[], counts smallint[], attempts uuid[],
    totals bigint[] default null, per_days bigint[] default null, days bigint[] default null)
    returns table (status text, attempt uuid)
    language plpgsql
    security definer -- it locks wallets, whose balances only transfers may change
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
    -- The plan is made once, maybe while the tables are still empty: what a batch costs must not depend on their sizes. So all that
    -- is looked up is looked up by an index, one by one: a limit, or a select for a value, holds the planner to it.
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $$
declare
    known   uuid[]; -- the draws, each once
    holds   bigint[]; -- of the known draws; null for one that is unknown or free, as what follows
    assets  text[];
    costs   bigint[];
    groups  text[];
    closed  boolean[];
    lefts   bigint[]; -- prizes that are not issued; null when there is one without end
    places  integer[]; -- of each request's draw among them
    wallets bigint[]; -- of each request
    given   uuid[];
    answers text[];
begin
    -- One that waits for a lock holds up those that come with it, and when it is alone those that come after it.
    perform set_config('lock_timeout', case when cardinality(ids) > 1 then '1s' else '3s' end, true);
    -- The draws first: a close waits for the holds under way, and a hold after it sees it.
    perform from draw as d where d.id = any (draws) order by d.id for share;

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
    -- Wallets and hold accounts in the order of their ids, as every transfer. Until the commit nobody else can hold these requests, and
    -- what another transaction has held of them, or settled, is seen by the next statement.
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
                         when t.status = 'returned' then 'again'
                         else 'new'
                     end order by g.n)
    into given, answers
    from unnest(ids, places, users, counts, attempts, wallets, totals, per_days, days)
         with ordinality as g(id, place, user_id, plays, attempt, wallet, total, per_day, day, n)
    left join lateral (select x.status, x.attempt, x.plays from play_request as x where x.id = g.id limit 1) as t on true
    left join lateral (select x.counters from player as x -- plays, day, plays that day, …
                       where x.draw = known[g.place] and x.user_id = g.user_id and (g.total > 0 or g.per_day > 0) limit 1) as c on true
    cross join lateral (select count(*) as plays from play as y where y.request = g.id) as s;

    -- Who is restricted holds nothing new, nor does anybody in a blocked group.
    if exists (select from restriction) then
        answers := array(
            select case when g.answer not in ('new', 'again') then g.answer
                        when is_restricted('user', g.user_id, 'frozen') then 'frozen'
                        when is_restricted('user', g.user_id, 'blocked') or is_restricted('group', groups[g.place], 'blocked')
                            then 'blocked'
                        else g.answer end
            from unnest(answers, users, places) with ordinality as g(answer, user_id, place, n) order by g.n);
    end if;

    insert into play_request (id, draw, user_id, plays, cost, attempt, status)
    select g.id, known[g.place], g.user_id, g.plays, costs[g.place] * g.plays, g.attempt, 'held'
    from unnest(ids, places, users, counts, attempts, answers) as g(id, place, user_id, plays, attempt, answer)
    where g.answer = 'new';
    if 'again' = any (answers) then
        update play_request as t
        set plays = g.plays, cost = costs[g.place] * g.plays, attempt = g.attempt, status = 'held', reason = null, held_at = now(),
            decided_at = null
        from unnest(ids, places, counts, attempts, answers) as g(id, place, plays, attempt, answer)
        where t.id = g.id and g.answer = 'again';
    end if;
    insert into transfer (subject, debit, credit, amount, kind)
    select known[g.place], g.wallet, holds[g.place], costs[g.place] * g.plays, 'cost'
    from unnest(places, wallets, counts, answers) as g(place, wallet, plays, answer)
    where g.answer in ('new', 'again');

    return query select case when a.answer in ('new', 'again') then 'held' else a.answer end, a.given
                 from unnest(answers, given) with ordinality as a(answer, given, n) order by a.n;
end
$$;

-- Settles ends. Of a period (not null): what nobody took returns to the stock, once. Of a draw (period null): costs still held
-- go back, what is left in the escrows and the proceeds go to the owner, and the final table is checked and stored, once. What
-- has ended already, or is far from its end (latest_moment), is left alone.
--
-- What was played of a prize is the number of its latest play, one step down an index: plays are numbered from 1 without gaps. To count
-- them took longer than a statement may, from some millions on; reconcile does, and holds the count against the number. A draw that is
-- open has all its plays here: its month is not archived.
--
-- Locks: the shards, the draws, the periods' prizes, the draws' held requests, then all accounts in one order, before the first of them moves.
-- Who plans a period takes a draw and then its prizes, in the same order.
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

    closed := array(select d.id from draw as d
                    where d.closed_at is null and d.closes_at <= latest_moment()
                      and d.id = any (array(select g.draw from unnest(draws, periods) as g(draw, n) where g.n is null))
                    order by d.id for update);
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
    -- A table that is not true closes all the same, and the alarm is raised: an exception here would block the journal.
    wrong := array(select d.id from draw as d
                   where d.id = any (closed) and not (d.final_table ->> 'checked')::boolean);
    settled_at := now();
end
$$;

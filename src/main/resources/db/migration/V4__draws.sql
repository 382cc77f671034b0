-- Prize draws: their definitions, prizes and plays, and the functions that hold costs and settle plays.
--
-- The money of a draw. Awards that are amounts are put into the draw's escrows (one an asset) when it is made, from the
-- owner's wallet. What players pay goes from their wallets into the draw's hold account before the script decides; it
-- comes back when the script refuses, and stays there otherwise, until the close gives it to the owner with what is left in
-- the escrows. So: hold = Σ cost of requests held or settled; escrow = Σ (stock - issued) * amount.

alter table account drop constraint account_kind_check;
alter table account add constraint account_kind_check check (kind in ('wallet', 'escrow', 'hold', 'source'));

alter table transfer drop constraint transfer_kind_check;
alter table transfer add constraint transfer_kind_check check (kind in
    ('deposit', 'withdrawal', 'send', 'claim', 'refund', 'fund', 'cost', 'return', 'award', 'proceeds'));

drop index transfer_in;
drop index transfer_out;
create index transfer_in on transfer (credit, id)
    where kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds');
create index transfer_out on transfer (debit, id) where kind in ('withdrawal', 'send', 'fund', 'cost');

create table draw (
    id          uuid primary key,
    shard       smallint    not null references shard,
    owner       text        not null, -- who made it: pays the awards, gets the proceeds
    group_id    text,
    mode        text        not null check (mode in ('table', 'weights', 'schedule')),
    definition  jsonb       not null, -- as the maker wrote it, without codes
    cost        bigint      not null default 0 check (cost >= 0 and cost < 100000000000000),
    hold        bigint      references account, -- null: a free draw
    carry_over  boolean     not null default true,
    created_at  timestamptz not null default now(),
    opens_at    timestamptz not null,
    closes_at   timestamptz not null,
    closed_at   timestamptz,
    final_table jsonb, -- what was issued and what was left, checked at the close
    check (opens_at < closes_at),
    check ((cost > 0) = (hold is not null)),
    check ((closed_at is null) = (final_table is null))
);
create index draw_open on draw (shard, id) where closed_at is null;
create index draw_owner on draw (owner, id);

create table prize (
    draw         uuid     not null references draw,
    n            smallint not null check (n >= 1), -- its number; the fallback is the last
    name         text     not null,
    amount       bigint   not null default 0 check (amount >= 0 and amount < 100000000000000), -- of the award; 0: no amount
    escrow       bigint   references account,
    stock        bigint   check (stock > 0), -- null: no limit
    issued       bigint   not null default 0 check (issued >= 0),
    round        bigint   not null default 1, -- the latest round in which it was issued
    round_issued bigint   not null default 0, -- how many in that round
    planned      bigint   not null default 0 check (planned >= 0), -- taken from the stock for the schedule
    announced    boolean  not null, -- whether its wins are told in the group's feed
    primary key (draw, n),
    constraint prize_in_stock check (stock is null or issued <= stock), -- invariant I10
    constraint prize_planned_in_stock check (stock is null or planned <= stock),
    check ((amount > 0) = (escrow is not null)),
    check (amount = 0 or stock is not null)
) with (fillfactor = 70);

-- The k-th issue of a prize hands out its k-th code, so a code is handed out once because (draw, prize, nth) is unique.
create table code (
    draw  uuid     not null,
    prize smallint not null,
    nth   bigint   not null check (nth >= 1),
    code  text     not null,
    primary key (draw, prize, nth),
    foreign key (draw, prize) references prize
);

-- One request of plays under one key: all of them or none. Its id is a digest of draw, user and key.
create table play_request (
    id         uuid primary key,
    draw       uuid        not null,
    user_id    text        not null,
    plays      smallint    not null check (plays >= 1),
    cost       bigint      not null check (cost >= 0), -- of all its plays
    attempt    uuid        not null, -- names the try: the script decides an attempt once, a request that was returned gets another
    status     text        not null check (status in ('held', 'settled', 'returned')),
    reason     text, -- of a return
    held_at    timestamptz not null default now(),
    decided_at timestamptz,
    check ((status = 'held') = (decided_at is null))
) with (fillfactor = 80);
create index play_request_held on play_request (held_at) where status = 'held';
create index play_request_decided on play_request (draw, decided_at) where decided_at is not null;

create table play (
    draw    uuid        not null,
    seq     bigint      not null check (seq >= 0), -- its place in the draw, from 0
    request uuid        not null,
    user_id text        not null,
    prize   smallint    not null,
    nth     bigint      not null check (nth >= 1), -- the how many-th of its prize
    round   bigint      not null,
    period  integer, -- of the release it took; null for none
    release integer,
    at      timestamptz not null, -- the time that decided what was due and which day it counts for
    primary key (draw, seq),
    unique (draw, prize, nth),
    constraint play_takes_release unique (draw, period, prize, release),
    foreign key (draw, prize) references prize
);
create index play_user on play (user_id, draw, seq);
create index play_of_request on play (request);

create trigger play_is_kept
    before update or delete or truncate on play
    for each statement execute function refuse_change();

-- What the script remembers of a user, for draws that have rules about users. Settled with the plays it counts.
create table player (
    draw     uuid     not null,
    user_id  text     not null,
    counters bigint[] not null,
    primary key (draw, user_id)
) with (fillfactor = 80);

-- A period that is planned: its row is what makes planning happen once.
create table period (
    draw       uuid        not null references draw,
    n          integer     not null check (n >= 0),
    starts_at  timestamptz not null,
    ends_at    timestamptz not null,
    planned_at timestamptz not null default now(),
    ended_at   timestamptz, -- when what nobody took returned to the stock
    primary key (draw, n)
);

create index period_unended on period (draw, n) where ended_at is null;

-- A scheduled prize: it can be taken from its moment on.
create table release (
    draw      uuid        not null,
    period    integer     not null,
    prize     smallint    not null,
    n         integer     not null check (n >= 1),
    moment    timestamptz not null,
    withdrawn boolean     not null default false, -- returned to the stock
    primary key (draw, period, prize, n),
    foreign key (draw, period) references period,
    foreign key (draw, prize) references prize
);

-- Quotas that differ from the definition's, for periods that are not planned yet.
create table quota (
    draw   uuid     not null,
    prize  smallint not null,
    period integer  not null,
    quota  bigint   not null check (quota >= 0),
    primary key (draw, prize, period),
    foreign key (draw, prize) references prize
);

-- Holds the costs of requests, each of another user, or says what became of them: the first step of every play.
--
-- Takes the requests' ids, draws, users, numbers of plays and fresh attempts. Returns for each, in order, its attempt and:
-- 'held'     the cost is in the draw's hold account (now or since an earlier try, whose attempt it then is), or it is free
-- 'settled'  it was decided before: the plays are there
-- 'reused'   the same key was used with another number of plays
-- 'poor'     the wallet holds less than the cost; nothing is changed
-- 'closed'   the draw is closed; nothing is changed
-- 'unknown'  there is no such draw (any more: a restored backup may lack it)
create function hold_plays(ids uuid[], draws uuid[], users text[], counts smallint[], attempts uuid[])
    returns table (status text, attempt uuid)
    language plpgsql
    security definer -- it locks wallets, whose balances only transfers may change
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
    -- The plan is made once, maybe while the tables are still empty: what a batch costs must not depend on their sizes.
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
as $$
declare
    given   uuid[];
    answers text[];
    held    bigint;
begin
    -- The draws first: a close waits for the holds under way, and a hold after it sees it.
    perform from draw as d where d.id = any (draws) and d.hold is not null order by d.id for share;
    perform from play_request as t where t.id = any (ids) order by t.id for update;
    -- Wallets and hold accounts in the order of their ids, as every transfer.
    perform from account as a
    where a.id = any (array(select s.id
                            from unnest(draws, users) as g(draw, user_id)
                            join draw as d on d.id = g.draw and d.hold is not null
                            join account as h on h.id = d.hold
                            join account as w on w.owner = g.user_id and w.kind = 'wallet' and w.asset = h.asset
                            cross join lateral (values (w.id), (h.id)) as s(id)))
    order by a.id for no key update;

    select array_agg(coalesce(case when t.status <> 'returned' then t.attempt end,
                              case when d.hold is null then g.id else g.attempt end) order by g.n),
           array_agg(case
                         when d.id is null then 'unknown'
                         when t.status <> 'returned' and t.plays <> g.plays then 'reused'
                         when t.status = 'settled' then 'settled'
                         when t.status = 'held' then 'held'
                         when d.closed_at is not null then 'closed'
                         when d.hold is null then 'held'
                         when coalesce(w.balance, 0) < d.cost * g.plays then 'poor'
                         else 'new'
                     end order by g.n)
    into given, answers
    from unnest(ids, draws, users, counts, attempts) with ordinality as g(id, draw, user_id, plays, attempt, n)
    left join draw as d on d.id = g.draw
    left join play_request as t on t.id = g.id
    left join account as h on h.id = d.hold
    left join account as w on w.owner = g.user_id and w.kind = 'wallet' and w.asset = h.asset;

    with fresh as (
        select g.id, g.draw, g.user_id, g.plays, g.attempt, d.cost * g.plays as cost, d.hold
        from unnest(ids, draws, users, counts, attempts, answers) as g(id, draw, user_id, plays, attempt, answer)
        join draw as d on d.id = g.draw
        where g.answer = 'new'
    ), noted as (
        insert into play_request as t (id, draw, user_id, plays, cost, attempt, status)
        select f.id, f.draw, f.user_id, f.plays, f.cost, f.attempt, 'held' from fresh as f order by f.id
        on conflict (id) do update
            set plays = excluded.plays, cost = excluded.cost, attempt = excluded.attempt, status = 'held', reason = null,
                held_at = now(), decided_at = null
            where t.status = 'returned'
        returning t.id
    ), moved as (
        insert into transfer (subject, debit, credit, amount, kind)
        select f.draw, w.id, f.hold, f.cost, 'cost'
        from fresh as f
        join noted on noted.id = f.id
        join account as h on h.id = f.hold
        join account as w on w.owner = f.user_id and w.kind = 'wallet' and w.asset = h.asset
        returning 1
    )
    select count(*) into held from moved;
    if held <> (select count(*) from unnest(answers) as a where a = 'new') then
        -- Another transaction has made the same request since it was looked for.
        raise exception 'requests changed meanwhile' using errcode = 'serialization_failure';
    end if;

    return query select case when a.answer = 'new' then 'held' else a.answer end, a.given
                 from unnest(answers, given) with ordinality as a(answer, given, n) order by a.n;
end
$$;

-- Settles requests: plays and awards of the accepted, the cost back to the wallet for the refused.
--
-- A request is void, and changes nothing, when its draw is unknown or closed, when it was decided before, when its hold is not
-- there (any more), when a place in the draw or a release is taken, when its places do not follow on those that are settled, or
-- when it would issue more than the stock; also when it played by a time that has not come (latest_moment): its own, the draw's
-- opening, or the moment of a release, which only a guarantee may take before. A void request was never answered as settled.
--
-- Requests are given as parallel arrays; counters as text, '' for none; reasons are null for the accepted. Plays name their request
-- by its place, from 1. Returns when it was settled, the void requests' places, and for each play its nth and its code.
create function settle_plays(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    ids uuid[], draws uuid[], users text[], attempts uuid[], ats timestamptz[], counters text[], reasons text[],
    play_requests integer[], play_seqs bigint[], play_prizes smallint[], play_rounds bigint[], play_periods integer[],
    play_releases integer[],
    out settled_at timestamptz, out void integer[], out nths bigint[], out codes text[])
    language plpgsql
    -- The plan is made once, maybe while the tables are still empty: what a batch costs must not depend on their sizes.
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
as $$
declare
    left_over bigint[]; -- of each play's prize, before this settlement; null for no limit
    issued    bigint[]; -- of each play's prize, before this settlement
    escrows   bigint[]; -- that each play's award comes from; null for none
    awards    bigint[];
    more      integer[];
    kept      bigint;
    paid      bigint;
    latest    constant timestamptz := latest_moment();
begin
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, draws);
    perform from play_request as t where t.id = any (ids) order by t.id for update;

    -- One look at each play's prize. The limit keeps it one by (draw, n): the planner, which knows nothing of the tables when it
    -- plans, would read all prizes of the draw for each.
    select array_agg(z.stock - z.issued order by p.n), array_agg(z.issued order by p.n),
           array_agg(z.escrow order by p.n), array_agg(z.amount order by p.n)
    into left_over, issued, escrows, awards
    from unnest(play_requests, play_prizes) with ordinality as p(request, prize, n)
    join unnest(draws) with ordinality as g(draw, n) on g.n = p.request
    left join lateral (select x.stock, x.issued, x.escrow, x.amount from prize as x
                       where x.draw = g.draw and x.n = p.prize limit 1) as z on true;

    void := array(
        select g.n::integer
        from unnest(ids, draws, attempts, ats, reasons) with ordinality as g(id, draw, attempt, at, reason, n)
        left join draw as d on d.id = g.draw
        left join play_request as t on t.id = g.id
        where d.id is null or d.closed_at is not null
           or (d.hold is not null and (t.status is distinct from 'held' or t.attempt <> g.attempt))
           or (d.hold is null and t.id is not null)
           or (g.reason is null and greatest(g.at, d.opens_at) > latest)
        union
        select g.n::integer
        from (select n, row_number() over (partition by id order by n) as again
              from unnest(ids) with ordinality as u(id, n)) as g
        where g.again > 1
        union
        select p.request
        from unnest(play_requests, play_seqs) as p(request, seq)
        join unnest(draws) with ordinality as g(draw, n) on g.n = p.request
        join play as x on x.draw = g.draw and x.seq = p.seq
        union
        select p.request
        from unnest(play_requests, play_prizes, play_periods, play_releases) as p(request, prize, period, release)
        join unnest(draws) with ordinality as g(draw, n) on g.n = p.request
        join play as x on x.draw = g.draw and x.period = p.period and x.prize = p.prize and x.release = p.release
        where p.period is not null
        union
        select p.request
        from unnest(play_requests, play_prizes, play_periods, play_releases) as p(request, prize, period, release)
        join unnest(draws) with ordinality as g(draw, n) on g.n = p.request
        join release as r on r.draw = g.draw and r.period = p.period and r.prize = p.prize and r.n = p.release
        where p.period is not null and r.moment > latest
          and (select jsonb_array_length(d.definition -> 'guarantees') = 0 from draw as d where d.id = g.draw));

    loop
        select array_agg(distinct o.request) into more
        from (select p.request, g.draw,
                     p.left_over - row_number() over (partition by g.draw, p.prize order by p.n) as rest,
                     p.seq - row_number() over (partition by g.draw order by p.n) + 1 as next
              from unnest(play_requests, play_seqs, play_prizes, left_over) with ordinality as p(request, seq, prize, left_over, n)
              join unnest(draws) with ordinality as g(draw, n) on g.n = p.request
              where p.request <> all (void)) as o
        join (select d.draw, coalesce((select max(x.seq) + 1 from play as x where x.draw = d.draw), 0) as next
              from (select distinct draw from unnest(draws) as draw) as d) as s on s.draw = o.draw
        where o.rest < 0 or o.next <> s.next;
        exit when more is null;
        void := void || more; -- what is left may fit now, or lies beyond a gap; it is counted again
    end loop;

    insert into play_request as t (id, draw, user_id, plays, cost, attempt, status, reason, decided_at)
    select g.id, g.draw, g.user_id,
           coalesce(c.plays, 1), 0, g.attempt,
           case when g.reason is null then 'settled' else 'returned' end, g.reason, now()
    from unnest(ids, draws, users, attempts, reasons) with ordinality as g(id, draw, user_id, attempt, reason, n)
    left join (select p, count(*) as plays from unnest(play_requests) as p group by p) as c on c.p = g.n
    where g.n <> all (void)
    order by g.id
    on conflict (id) do update set status = excluded.status, reason = excluded.reason, decided_at = excluded.decided_at;

    with given as (
        select p.n, g.draw, g.user_id, g.id as request, g.at, p.seq, p.prize, p.round, p.period, p.release,
               case when p.request <> all (void)
                    then p.issued + row_number() over (partition by g.draw, p.prize, p.request = any (void) order by p.n)
               end as nth
        from unnest(play_requests, play_seqs, play_prizes, play_rounds, play_periods, play_releases, issued) with ordinality
                 as p(request, seq, prize, round, period, release, issued, n)
        join unnest(ids, draws, users, ats) with ordinality as g(id, draw, user_id, at, n) on g.n = p.request
    ), played as (
        insert into play (draw, seq, request, user_id, prize, nth, round, period, release, at)
        select draw, seq, request, user_id, prize, nth, round, period, release, at from given where nth is not null
        returning 1
    )
    select (select count(*) from played), array_agg(given.nth order by given.n),
           array_agg((select c.code from code as c
                      where c.draw = given.draw and c.prize = given.prize and c.nth = given.nth) order by given.n)
    into kept, nths, codes
    from given;

    -- Wallets that are missing: a statement of its own, so that one that another transaction makes meanwhile is seen below.
    insert into account (kind, owner, asset)
    select distinct 'wallet', g.user_id, e.asset
    from unnest(play_requests, escrows) as p(request, escrow)
    join unnest(users) with ordinality as g(user_id, n) on g.n = p.request
    join account as e on e.id = p.escrow
    where p.request <> all (void)
      and not exists (select from account as a
                      where a.owner = g.user_id and a.kind = 'wallet' and a.asset = e.asset)
    order by 2, 3
    on conflict do nothing;

    -- One statement for all transfers, so that balances move in the order of account ids.
    with moved as (
        insert into transfer (subject, debit, credit, amount, kind)
        select g.draw, p.escrow, w.id, p.amount, 'award'
        from unnest(play_requests, escrows, awards) as p(request, escrow, amount)
        join unnest(draws, users) with ordinality as g(draw, user_id, n) on g.n = p.request
        join account as e on e.id = p.escrow
        join account as w on w.owner = g.user_id and w.kind = 'wallet' and w.asset = e.asset
        where p.request <> all (void)
        union all
        select g.draw, d.hold, w.id, t.cost, 'return'
        from unnest(ids, draws, users, reasons) with ordinality as g(id, draw, user_id, reason, n)
        join play_request as t on t.id = g.id
        join draw as d on d.id = g.draw
        join account as h on h.id = d.hold
        join account as w on w.owner = g.user_id and w.kind = 'wallet' and w.asset = h.asset
        where g.reason is not null and g.n <> all (void)
        returning 1
    )
    select count(*) from moved into paid;
    if kept <> (select count(*) from unnest(play_requests) as p where p <> all (void)) then
        raise exception 'settled % plays of %', kept, cardinality(play_requests);
    end if;
    if paid <> (select count(*) from unnest(play_requests, escrows) as p(request, escrow)
                where p.escrow is not null and p.request <> all (void))
             + (select count(*) from unnest(reasons) with ordinality as g(reason, n)
                where g.reason is not null and g.n <> all (void)) then
        raise exception 'made % transfers, which are not all', paid;
    end if;

    update prize as z
    set issued = z.issued + s.plays,
        round = greatest(z.round, s.round),
        round_issued = case when s.round > z.round then s.in_round
                            when s.round = z.round then z.round_issued + s.in_round
                            else z.round_issued end
    from (select draw, prize, sum(plays)::bigint as plays, max(round) as round,
                 (array_agg(plays order by round desc))[1] as in_round
          from (select g.draw, p.prize, p.round, count(*) as plays
                from unnest(play_requests, play_prizes, play_rounds) as p(request, prize, round)
                join unnest(draws) with ordinality as g(draw, n) on g.n = p.request
                where p.request <> all (void)
                group by g.draw, p.prize, p.round) as by_round
          group by draw, prize) as s
    where z.draw = s.draw and z.n = s.prize;

    insert into player as p (draw, user_id, counters)
    select distinct on (g.draw, g.user_id) g.draw, g.user_id, string_to_array(g.counters, ',')::bigint[]
    from unnest(draws, users, counters) with ordinality as g(draw, user_id, counters, n)
    where g.counters <> '' and g.n <> all (void)
    order by g.draw, g.user_id, g.n desc
    on conflict (draw, user_id) do update set counters = excluded.counters;

    settled_at := now();
end
$$;

-- Plans a period once: takes each prize's quota from the stock, as far as there is stock, and puts the releases on the
-- schedule. Moments are given for the whole quota, prize by prize.
--
-- Returns whether this call planned it.
create function plan_period(
    of_draw uuid, of_period integer, from_time timestamptz, to_time timestamptz, prizes smallint[], moments timestamptz[])
    returns boolean
    language plpgsql
as $$
begin
    perform from draw as d where d.id = of_draw and d.closed_at is null for share;
    if not found then
        return false;
    end if;
    -- A second planner waits here for the first, and finds its row; if the first one died, it plans itself.
    insert into period (draw, n, starts_at, ends_at) values (of_draw, of_period, from_time, to_time)
    on conflict do nothing;
    if not found then
        return false;
    end if;
    perform from prize as z where z.draw = of_draw order by z.n for no key update;
    insert into release (draw, period, prize, n, moment)
    select of_draw, of_period, g.prize, g.nth, g.moment
    from (select prize, moment, row_number() over (partition by prize order by moment) as nth,
                 row_number() over (partition by prize order by n) as pick
          from unnest(prizes, moments) with ordinality as u(prize, moment, n)) as g
    join prize as z on z.draw = of_draw and z.n = g.prize
    where g.pick <= z.stock - z.planned;
    update prize as z set planned = z.planned + r.count
    from (select prize, count(*) from release where draw = of_draw and period = of_period group by prize) as r
    where z.draw = of_draw and z.n = r.prize;
    return true;
end
$$;

-- Settles ends. Of a period (not null): what nobody took returns to the stock, once. Of a draw (period null): costs still held
-- go back, what is left in the escrows and the proceeds go to the owner, and the final table is checked and stored, once. What
-- has ended already, or is far from its end (latest_moment), is left alone.
--
-- Returns the draws that are closed now, and those of them whose table is not true.
create function settle_draw_ends(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    draws uuid[], periods integer[],
    out settled_at timestamptz, out closed uuid[], out wrong uuid[])
    language plpgsql
as $$
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
          and not exists (select from play as y
                          where y.draw = r.draw and y.period = r.period and y.prize = r.prize and y.release = r.n)
        returning r.draw, r.prize
    )
    update prize as z set planned = z.planned - w.count
    from (select draw, prize, count(*) from withdrawn group by draw, prize) as w
    where z.draw = w.draw and z.n = w.prize;

    closed := array(select d.id from draw as d
                    where d.closed_at is null and d.closes_at <= latest_moment()
                      and d.id in (select g.draw from unnest(draws, periods) as g(draw, n) where g.n is null)
                    order by d.id for update);
    perform from play_request as t where t.draw = any (closed) and t.status = 'held' order by t.id for update;

    insert into transfer (subject, debit, credit, amount, kind)
    select d.id, d.hold, w.id, t.cost, 'return'
    from draw as d
    join play_request as t on t.draw = d.id and t.status = 'held'
    join account as h on h.id = d.hold
    join account as w on w.owner = t.user_id and w.kind = 'wallet' and w.asset = h.asset
    where d.id = any (closed);
    update play_request as t set status = 'returned', reason = 'closed', decided_at = now()
    where t.draw = any (closed) and t.status = 'held';

    insert into account (kind, owner, asset)
    select distinct 'wallet', d.owner, a.asset
    from draw as d join account as a on a.owner = d.id::text and a.kind in ('escrow', 'hold')
    where d.id = any (closed)
    order by 2, 3
    on conflict do nothing;
    -- In as many transfers as their bound asks for: what many have paid may be more than any one may pay.
    insert into transfer (subject, debit, credit, amount, kind)
    select d.id, a.id, w.id, least(a.balance - part * 99999999999999, 99999999999999),
           case a.kind when 'escrow' then 'refund' else 'proceeds' end
    from draw as d
    join account as a on a.owner = d.id::text and a.kind in ('escrow', 'hold')
    join account as w on w.owner = d.owner and w.kind = 'wallet' and w.asset = a.asset
    cross join lateral generate_series(0, (a.balance - 1) / 99999999999999) as part
    where d.id = any (closed) and a.balance > 0;

    update draw as d
    set closed_at = now(),
        final_table = (select jsonb_build_object(
                                  'checked', bool_and(z.issued = p.plays and coalesce(z.issued <= z.stock, true)),
                                  'prizes', jsonb_agg(jsonb_build_object(
                                      'prize', z.n, 'name', z.name, 'stock', z.stock, 'issued', z.issued,
                                      'played', p.plays, 'left', z.stock - z.issued) order by z.n))
                       from prize as z
                       cross join lateral (select count(*) as plays from play as p
                                           where p.draw = z.draw and p.prize = z.n) as p
                       where z.draw = d.id)
    where d.id = any (closed);
    -- A table that is not true closes all the same, and the alarm is raised: an exception here would block the journal.
    wrong := array(select d.id from draw as d
                   where d.id = any (closed) and not (d.final_table ->> 'checked')::boolean);
    settled_at := now();
end
$$;

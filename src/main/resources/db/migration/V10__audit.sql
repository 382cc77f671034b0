-- What an auditor asks for beyond the ledger: reversals, whose command raised a budget, and the log of who called and who was refused.

-- Which command raised a campaign's budget: the transfer belongs to the campaign, as the first one does.
create table budget_raise (
    campaign uuid   not null references campaign,
    transfer bigint not null,
    command  uuid   not null unique references command,
    primary key (campaign, transfer),
    foreign key (campaign, transfer) references transfer (subject, id)
);

create trigger budget_raise_is_kept
    before update or delete or truncate on budget_raise
    for each statement execute function refuse_change();

-- A transfer that was taken back by another one: never by an edit. A transfer is reversed once, and a reversal never.
create table reversal (
    command  uuid   primary key references command, -- the subject of the transfer that reverses
    subject  uuid   not null, -- with `transfer`: the transfer that is reversed
    transfer bigint not null,
    unique (subject, transfer),
    foreign key (subject, transfer) references transfer (subject, id)
);

create trigger reversal_is_kept
    before update or delete or truncate on reversal
    for each statement execute function refuse_change();

-- Of each transfer that a command made by itself: the command.
create function command_of(of_subject uuid, of_transfer bigint, of_kind text) returns uuid
    language sql
    stable
return case when of_kind in ('deposit', 'withdrawal', 'send', 'fund', 'reversal')
            then coalesce((select r.command from budget_raise as r where r.campaign = of_subject and r.transfer = of_transfer), of_subject)
       end;

-- Where the money goes that a reversal takes back, or comes from: the other side of the transfer. What came out of an escrow goes to the
-- wallet that had paid into it: an escrow that is closed stays empty. Null for a kind that is not reversed.
--
-- A send, a fund or a cost would leave a packet or a draw that lacks its money: it is ended, and returns it. What came back by a refund,
-- a return or as proceeds is the wallet's own money.
create function reversal_side(of_subject uuid, of_kind text, debit bigint, credit bigint) returns bigint
    language sql
    stable
return case of_kind
           when 'deposit' then debit
           when 'withdrawal' then credit
           when 'claim' then (select coalesce(c.refund_to, p.refund_to)
                              from packet as p left join pool as o on o.packet = p.id left join campaign as c on c.id = o.campaign
                              where p.id = of_subject)
           when 'award' then (select w.id
                              from draw as d join account as e on e.id = debit
                              join account as w on w.owner = d.owner and w.kind = 'wallet' and w.asset = e.asset
                              where d.id = of_subject)
       end;

-- Takes a transfer of a user's wallet back by another transfer. Idempotent by the user and the key.
--
-- Returns a verdict, for 'done' and 'replayed' the transfer that reverses, and what the verdict is about:
-- 'done'      it is reversed
-- 'replayed'  it was, by the same command
-- 'reused'    the key was used for another command; nothing is changed, as for all that follow
-- 'unknown'   the user's wallets have no such transfer
-- 'fixed'     it is of a kind that is not reversed, or came from this wallet
-- 'reversed'  it was reversed by another command: `about` is its id
-- 'poor'      the wallet holds less than the amount: `about` is how much
create function reverse_transfer(
    of_user text, of_transfer bigint, new_command uuid, of_actor text, of_role text, of_key text, print bytea,
    of_reference text, of_reason text)
    returns table (verdict text, transfer bigint, about text)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
as $$
declare
    used    record;
    moved   record; -- the transfer
    side    bigint;
    earlier uuid;
    held    bigint;
    made    bigint;
begin
    perform set_config('lock_timeout', '3s', true);
    select u.verdicts[1] as verdict, u.transfers[1] as transfer into used
    from used_keys('reversal', array[of_user], array[of_key], array[print]) as u;
    if used.verdict is not null then
        return query select used.verdict, used.transfer, null::text;
        return;
    end if;

    select t.subject, t.id, t.kind, t.debit, t.credit, t.amount, w.id as wallet, w.asset into moved
    from account as w
    cross join lateral (
        (select * from transfer as i where i.credit = w.id and i.id = of_transfer
             and i.kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal') limit 1)
        union all
        (select * from transfer as o where o.debit = w.id and o.id = of_transfer
             and o.kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal') limit 1)
    ) as t
    where w.owner = of_user and w.kind = 'wallet'
    limit 1;
    if moved.id is null then
        return query select 'unknown', null::bigint, null::text;
        return;
    end if;
    side := reversal_side(moved.subject, moved.kind, moved.debit, moved.credit);
    if side is null or side = moved.wallet then
        return query select 'fixed', null::bigint, moved.kind;
        return;
    end if;

    -- From here on nobody else reverses it, and what was committed meanwhile is seen.
    perform lock_accounts(array[moved.wallet, side]);
    select r.command into earlier from reversal as r where r.subject = moved.subject and r.transfer = moved.id;
    if earlier is not null then
        return query select 'reversed', null::bigint, earlier::text;
        return;
    end if;
    select a.balance into held from account as a where a.id = moved.wallet;
    if moved.credit = moved.wallet and held < moved.amount then
        return query select 'poor', null::bigint, held::text;
        return;
    end if;

    insert into command (id, operation, actor, role, key, reference, reason)
    values (new_command, 'reversal', of_actor, of_role, of_key, of_reference, of_reason);
    insert into reversal (command, subject, transfer) values (new_command, moved.subject, moved.id);
    insert into transfer as t (subject, debit, credit, amount, kind)
    values (new_command,
            case when moved.credit = moved.wallet then moved.wallet else side end,
            case when moved.credit = moved.wallet then side else moved.wallet end,
            moved.amount, 'reversal')
    returning t.id into made;
    insert into idempotency (user_id, operation, key, fingerprint, subject, transfer)
    values (of_user, 'reversal', of_key, print, new_command, made);
    return query select 'done', made, null::text;
end
$$;

-- What the outbox tells of reversals, as outbox_events, which asks it: whose wallet gave or got the money, and who had or gave it for that.
create function reversal_events(of_shards smallint[], ns bigint[])
    returns table (n bigint, subject uuid, at text, data text)
    language sql
    stable
begin atomic
    select o.n, b.subject, outbox_time(b.at),
           json_build_object('transfer', b.id::text, 'command', b.subject, 'user', w.owner,
                             'direction', case when w.id = b.debit then 'debit' else 'credit' end,
                             'asset', w.asset, 'amount', b.amount, 'reverses', r.transfer::text, 'kind', t.kind,
                             'payer', case when t.kind in ('claim', 'award') then p.owner end,
                             'reference', c.reference, 'reason', c.reason)::text
    from unnest(of_shards, ns) as g(shard, n)
    join outbox as o on o.shard = g.shard and o.n = g.n
    cross join lateral unnest(o.subjects, o.firsts) with ordinality as s(subject, id, place)
    join transfer as b on b.subject = s.subject and b.id = s.id
    join command as c on c.id = b.subject
    join reversal as r on r.command = b.subject
    join transfer as t on t.subject = r.subject and t.id = r.transfer
    join account as w on w.id = case t.kind when 'withdrawal' then b.credit else b.debit end
    join account as p on p.id = b.credit
    order by o.n, s.place;
end;

-- Who called for the host, and who was refused: never what a call held, no token, no passcode. Written by audit_append alone, in the
-- order of n and of at.
create table audit_log (
    n         bigint      primary key,
    at        timestamptz not null, -- when it was written, by this clock: at the end of the call, or of what `times` counts
    actor     text, -- the token's subject; null for a call without a valid token
    role      text,
    address   text, -- where a call without a valid token came from
    request   text, -- the request's id, when it had one
    method    text        not null,
    route     text        not null, -- as the contract writes it: /v1/accounts/{user}/deposits
    subject   text, -- whom or what the path names; null for nothing
    status    smallint    not null,
    problem   text, -- the end of the problem's type; null for none
    reference text, -- the host's own name for what it asked for; null for none
    times     bigint      not null default 1 check (times >= 1), -- so many calls alike: this one stands for those that were not written
    missed    bigint      not null default 0 check (missed >= 0) -- rows before this one that the server could not keep
);
create index audit_log_at on audit_log (at, n);

create trigger audit_log_is_kept
    before update or truncate on audit_log
    for each statement execute function refuse_change();

-- The last row that was removed, so that it is known how the log begins; 0 for none.
create table audit_floor (
    one boolean primary key default true check (one),
    n   bigint  not null default 0
);
insert into audit_floor default values;

-- Of the log only the oldest rows go, and none before a year is over: for every role.
create function audit_log_keeps_a_year() returns trigger
    language plpgsql
    security definer -- nobody else says where the log begins
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
as $$
declare
    last constant bigint := (select max(g.n) from gone as g);
begin
    if exists (select from gone as g where g.at > now() - interval '365 days') or exists (select from audit_log as l where l.n < last) then
        raise exception 'audit_log is never changed, but that its oldest rows may go after a year: % refused', tg_op
            using errcode = 'insufficient_privilege';
    end if;
    update audit_floor set n = last where last is not null;
    return null;
end
$$;

create trigger audit_log_keeps_a_year
    after delete on audit_log
    referencing old table as gone
    for each statement execute function audit_log_keeps_a_year();

-- Removes at most `page` rows that are older than `keep`, the oldest first. Returns how many.
create function audit_log_sweep(keep interval, page integer) returns bigint
    language plpgsql
as $$
declare
    gone bigint;
begin
    delete from audit_log as l
    where l.n <= (select max(o.n) from (select x.n from audit_log as x where x.at < now() - keep order by x.at, x.n limit page) as o);
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- Writes rows of the log. One server at a time, until its commit: so whoever has read up to a row has missed none before it.
create function audit_append(
    actors text[], roles text[], addresses text[], requests text[], methods text[], routes text[], subjects text[],
    statuses smallint[], problems text[], refs text[], times bigint[], missed bigint[])
    returns void
    language plpgsql
as $$
declare
    last record;
begin
    perform set_config('lock_timeout', '3s', true);
    perform pg_advisory_xact_lock(hashtextextended('audit_log', 0));
    select l.n, l.at into last from audit_log as l order by l.n desc limit 1;
    insert into audit_log (n, at, actor, role, address, request, method, route, subject, status, problem, reference, times, missed)
    select coalesce(last.n, (select f.n from audit_floor as f)) + g.n, greatest(clock_timestamp(), last.at), g.actor, g.role, g.address,
           g.request, g.method, g.route, g.subject, g.status, g.problem, g.reference, g.times, g.missed
    from unnest(actors, roles, addresses, requests, methods, routes, subjects, statuses, problems, refs, times, missed) with ordinality
             as g(actor, role, address, request, method, route, subject, status, problem, reference, times, missed, n)
    order by g.n;
end
$$;

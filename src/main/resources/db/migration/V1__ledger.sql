-- The ledger: accounts and transfers. Amounts are whole minor units (fen, points) in bigint.
-- Rules that money depends on are constraints and triggers here, not only code.

-- Who we are to a Redis that others use, too: a prefix of this id names our keys there, unless an option does. Made at the first
-- start, not here: a database may be copied after its migration and before it is anybody's.
create table installation (
    one boolean primary key default true check (one),
    id  uuid    not null default gen_random_uuid(),
    -- Whether a reference names one command: as the server that started last was told.
    unique_references boolean not null default false
);

create table account (
    id      bigint generated always as identity primary key,
    kind    text   not null check (kind in ('wallet', 'escrow', 'source')),
    owner   text   not null, -- wallet: the user; escrow: the packet's, draw's or campaign's id; source: 'outside'
    asset   text   not null,
    balance bigint not null default 0,
    unique (owner, kind, asset),
    constraint account_not_negative check (kind = 'source' or balance >= 0),
    -- All money in wallets and escrows came through a source. Bounding it here means that no settlement can overflow.
    constraint account_in_range check (balance > -9000000000000000000)
) with (fillfactor = 45); -- room for a second version of every row: only the balance changes, and no index holds it

-- What somebody asked for, once, under an idempotency key, and that moved money: who it was, and why. Its id is the subject of the
-- transfers that it made: a send's is its packet's, a draw's its draw's, a campaign's or a rain's its own; see also budget_raise.
-- It stays when the key is forgotten.
create table command (
    id        uuid        primary key, -- UUIDv7
    operation text        not null, -- deposit, withdrawal, send, draw, campaign, budget, rain, reversal
    actor     text        not null, -- who asked: the token's subject; without a token, for whom the server did it
    role      text        not null check (role in ('user', 'service', 'server')), -- of the token; server: without one
    key       text        not null, -- the idempotency key that the actor gave
    reference text        check (reference ~ '^[!-~]{1,64}$'), -- the host's own name for it; null for none
    reason    text        check (length(reason) between 1 and 200), -- null for none
    at        timestamptz not null default now() -- the same as of its transfers: of their transaction
);
create index command_reference on command (reference, id) where reference is not null;

-- Where references are unique, the second command of one is refused, and told which the first one is.
create function reference_names_one() returns trigger
    language plpgsql
as $$
declare
    first uuid;
begin
    if (select unique_references from installation) then
        -- Who has the same reference at the same time waits, and then finds the first one's.
        perform pg_advisory_xact_lock(hashtextextended('reference ' || new.reference, 0));
        select c.id into first from command as c where c.reference = new.reference order by c.id limit 1;
        if found then
            raise exception 'the reference names a command: command_reference_once'
                using errcode = 'unique_violation', constraint = 'command_reference_once', detail = first::text;
        end if;
    end if;
    return new;
end
$$;

create trigger reference_names_one
    before insert on command
    for each row when (new.reference is not null) execute function reference_names_one();

-- A subject's transfers stand together, and every key begins with it or ends with it: so the table can be partitioned by it.
create table transfer (
    subject uuid        not null, -- what it belongs to: a packet, a draw, a campaign, or the command that asked for it; UUIDv7
    id      bigint generated always as identity, -- grows with time within a wallet
    debit   bigint      not null,
    credit  bigint      not null,
    amount  bigint      not null,
    at      timestamptz not null default now(),
    kind    text        not null check (kind in ('deposit', 'withdrawal', 'send', 'claim', 'refund')),
    primary key (subject, id),
    constraint transfer_amount check (amount > 0 and amount < 100000000000000),
    constraint transfer_two_accounts check (debit <> credit)
);

-- A wallet's records. Escrows are read through their subject, so a claim costs one of these entries, not two.
create index transfer_in on transfer (credit, id) where kind in ('deposit', 'claim', 'refund');
create index transfer_out on transfer (debit, id) where kind in ('withdrawal', 'send');

-- Balances follow the transfers, once a statement, in the order of account ids: two transactions that each insert their
-- transfers in one statement never wait for each other in a circle. The join is held to a nested loop to keep that order.
create function transfer_moves_balances() returns trigger
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
begin
    with delta as (
        select id, sum(amount)::bigint as amount
        from (select debit as id, -amount as amount from inserted
              union all
              select credit, amount from inserted) as sides
        group by id
        order by id
    ), done as (
        update account set balance = account.balance + delta.amount
        from delta where account.id = delta.id
        returning account.asset
    )
    select (select count(*) from delta), count(*), min(asset) <> max(asset) from done into accounts, moved, mixed;
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

create trigger transfer_moves_balances
    after insert on transfer
    referencing new table as inserted
    for each statement execute function transfer_moves_balances();

-- What happened stays: for every role, also the tables' owner.
create function refuse_change() returns trigger
    language plpgsql
as $$
begin
    raise exception '% is never changed: % refused', tg_table_name, tg_op using errcode = 'insufficient_privilege';
end
$$;

create trigger transfer_is_kept
    before update or delete or truncate on transfer
    for each statement execute function refuse_change();

create trigger command_is_kept
    before update or delete or truncate on command
    for each statement execute function refuse_change();

-- What a user's command did, by its idempotency key. Bound only by success: written in the command's own transaction.
create table idempotency (
    user_id     text        not null,
    operation   text        not null,
    key         text        not null,
    fingerprint bytea       not null, -- of the command; the same key with another one is refused
    subject     uuid        not null, -- of what it made: the packet, the draw, or the command of a deposit or a withdrawal
    transfer    bigint, -- the id of the subject's transfer that it made; null for a draw
    at          timestamptz not null default now(),
    primary key (user_id, operation, key)
);
create index idempotency_at on idempotency (at);

-- Forgets at most `page` keys that are older than `keep`, the oldest first. Returns how many.
create function idempotency_sweep(keep interval, page integer) returns bigint
    language plpgsql
as $$
declare
    gone bigint;
begin
    delete from idempotency as i
    where i.ctid = any (array(select o.ctid from idempotency as o where o.at < now() - keep order by o.at limit page));
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- What the keys of commands were used for. Locks the keys, in order, until the transaction ends: the same command at the same
-- time waits, and then finds the first one's result.
--
-- Returns for each 'replayed', or 'reused' when it was another command's; and its subject and transfer. All three are null when
-- the key is unused.
create function used_keys(of_operation text, users text[], keys text[], fingerprints bytea[],
                          out verdicts text[], out subjects uuid[], out transfers bigint[])
    language plpgsql
as $$
begin
    perform pg_advisory_xact_lock(l.lock)
    from (select distinct hashtextextended(concat_ws(' ', u.user_id, of_operation, u.key), 0) as lock
          from unnest(users, keys) as u(user_id, key) order by lock) as l;

    -- By a statement of its own, so that it sees what was committed while it waited. The limit keeps it one look for each: the
    -- planner, which knows nothing of the table when it plans, would read all keys of the operation.
    select array_agg(case i.fingerprint = u.fingerprint when true then 'replayed' when false then 'reused' end order by u.n),
           array_agg(i.subject order by u.n), array_agg(i.transfer order by u.n)
    into verdicts, subjects, transfers
    from unnest(users, keys, fingerprints) with ordinality as u(user_id, key, fingerprint, n)
    left join lateral (select * from idempotency
                       where user_id = u.user_id and operation = of_operation and key = u.key limit 1) as i on true;
end
$$;

-- Locks accounts until the transaction ends, in the order of their ids as every transfer does.
create function lock_accounts(ids bigint[]) returns void
    language plpgsql
    security definer -- for whom may not change a balance
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
as $$
begin
    perform from account as a where a.id = any (ids) order by a.id for no key update;
end
$$;

-- Deposits, each under another key, or withdrawals, each of another user: all or none of them committed, each with a verdict of its
-- own. When one cannot be stored (two with one key, one of many deposits leaves the ledger's range), none is: each is to be moved alone.
--
-- Takes the kind of all; and of each the id of its command, who asked for it, its user, asset, amount, idempotency key, the
-- command's fingerprint, and for the books the actor's role, a reference and a reason, or null. Returns for each, in order, a verdict, and for 'done' and 'replayed' its command, the transfer and its time:
-- 'done'      the money is moved
-- 'replayed'  it was moved before, by the same command
-- 'reused'    the key was used for another command; nothing is changed
-- 'poor'      the wallet holds less than the amount; nothing is changed
-- 'frozen'    the user's money may not leave; nothing is changed
-- 'beyond'    the asset's total would leave the ledger's range; nothing is changed
create function move_wallets(
    of_kind text, ids uuid[], actors text[], users text[], assets text[], amounts bigint[], keys text[], fingerprints bytea[],
    roles text[], refs text[], reasons text[])
    returns table (verdict text, command uuid, transfer bigint, at timestamptz)
    language plpgsql
    -- The plan is made once, maybe while the tables are still empty: what a call costs must not depend on their sizes.
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
as $$
declare
    verdicts  text[];
    subjects  uuid[];
    transfers bigint[];
    wallets   bigint[];
    sources   bigint[];
begin
    -- One that waits for a lock holds up those that come with it, and when it is alone those that come after it.
    perform set_config('lock_timeout', case when cardinality(keys) > 1 then '1s' else '3s' end, true);
    select u.verdicts, u.subjects, u.transfers into verdicts, subjects, transfers
    from used_keys(of_kind, users, keys, fingerprints) as u;

    if of_kind = 'deposit' then
        insert into account (kind, owner, asset)
        select distinct s.kind, s.owner, g.asset
        from unnest(users, assets, verdicts) as g(user_id, asset, verdict)
        cross join lateral (values ('wallet', g.user_id), ('source', 'outside')) as s(kind, owner)
        where g.verdict is null
          and not exists (select from account as a
                          where a.owner = s.owner and a.kind = s.kind and a.asset = g.asset)
        order by 2, 3, 1
        on conflict do nothing;
    end if;

    select array_agg((select a.id from account as a
                      where a.owner = g.user_id and a.kind = 'wallet' and a.asset = g.asset and g.verdict is null) order by g.n),
           array_agg((select a.id from account as a
                      where a.owner = 'outside' and a.kind = 'source' and a.asset = g.asset and g.verdict is null) order by g.n)
    into wallets, sources
    from unnest(users, assets, verdicts) with ordinality as g(user_id, asset, verdict, n);
    perform lock_accounts(wallets || sources);

    select array_agg(coalesce(g.verdict, case
                         when of_kind = 'withdrawal' and coalesce(g.wallet, 0) < g.amount then 'poor'
                         when of_kind = 'deposit' and g.source - g.deposits <= -9000000000000000000 then 'beyond'
                         else 'done'
                     end) order by g.n)
    into verdicts
    from (select u.verdict, u.amount, u.n, w.balance as wallet, s.balance as source,
                 sum(u.amount) over (partition by u.source order by u.n) as deposits
          from unnest(verdicts, amounts, wallets, sources) with ordinality as u(verdict, amount, wallet, source, n)
          left join account as w on w.id = u.wallet
          left join account as s on s.id = u.source) as g;

    if of_kind = 'withdrawal' then
        verdicts := judge_restrictions(verdicts, users, array_fill(null::text, array[cardinality(users)]));
    end if;

    if cardinality(verdicts) > 1 and 'beyond' = any (verdicts) then
        raise exception 'the deposits together leave the range' using errcode = 'check_violation', constraint = 'account_in_range';
    end if;

    insert into command (id, operation, actor, role, key, reference, reason)
    select g.id, of_kind, g.actor, g.role, g.key, g.reference, g.reason
    from unnest(verdicts, ids, actors, roles, keys, refs, reasons) as g(verdict, id, actor, role, key, reference, reason)
    where g.verdict = 'done';

    with moved as (
        insert into transfer (subject, debit, credit, amount, kind)
        select g.id,
               case of_kind when 'deposit' then g.source else g.wallet end,
               case of_kind when 'deposit' then g.wallet else g.source end,
               g.amount, of_kind
        from unnest(verdicts, ids, wallets, sources, amounts) as g(verdict, id, wallet, source, amount)
        where g.verdict = 'done'
        returning transfer.subject, transfer.id
    ), noted as (
        insert into idempotency (user_id, operation, key, fingerprint, subject, transfer)
        select g.user_id, of_kind, g.key, g.fingerprint, m.subject, m.id
        from unnest(users, keys, fingerprints, ids) as g(user_id, key, fingerprint, id)
        join moved as m on m.subject = g.id
    )
    select array_agg(coalesce(m.subject, g.subject) order by g.n), array_agg(coalesce(m.id, g.transfer) order by g.n)
    into subjects, transfers
    from unnest(ids, subjects, transfers) with ordinality as g(id, subject, transfer, n)
    left join moved as m on m.subject = g.id;

    return query
        select g.verdict, t.subject, t.id, t.at
        from unnest(verdicts, subjects, transfers) with ordinality as g(verdict, subject, transfer, n)
        left join transfer as t on t.subject = g.subject and t.id = g.transfer and g.verdict in ('done', 'replayed')
        order by g.n;
end
$$;

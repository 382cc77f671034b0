-- The ledger: accounts and transfers. Amounts are whole minor units (fen, points) in bigint.
-- Rules that money depends on are constraints and triggers here, not only code.

-- Who we are to a Redis that others use, too: a prefix of this id names our keys there, unless an option does. Made at the first
-- start, not here: a database may be copied after its migration and before it is anybody's.
create table installation (
    one boolean primary key default true check (one),
    id  uuid    not null default gen_random_uuid()
);

create table account (
    id      bigint generated always as identity primary key,
    kind    text   not null check (kind in ('wallet', 'escrow', 'source')),
    owner   text   not null, -- wallet: the user; escrow: the packet's id; source: 'outside'
    asset   text   not null,
    balance bigint not null default 0,
    unique (owner, kind, asset),
    constraint account_not_negative check (kind = 'source' or balance >= 0),
    -- All money in wallets and escrows came through a source. Bounding it here means that no settlement can overflow.
    constraint account_in_range check (balance > -9000000000000000000)
) with (fillfactor = 45); -- room for a second version of every row: only the balance changes, and no index holds it

create table transfer (
    id     bigint generated always as identity primary key,
    kind   text        not null check (kind in ('deposit', 'withdrawal', 'send', 'claim', 'refund')),
    debit  bigint      not null,
    credit bigint      not null,
    amount bigint      not null,
    packet uuid, -- null for deposits and withdrawals
    at     timestamptz not null default now(),
    constraint transfer_amount check (amount > 0 and amount < 100000000000000),
    constraint transfer_two_accounts check (debit <> credit)
);

-- A wallet's records. Escrows are read through their packet, so a claim costs one of these entries, not two.
create index transfer_in on transfer (credit, id) where kind in ('deposit', 'claim', 'refund');
create index transfer_out on transfer (debit, id) where kind in ('withdrawal', 'send');

-- Balances follow the transfers, once a statement, in the order of account ids: two transactions that each insert their
-- transfers in one statement never wait for each other in a circle. The join is held to a nested loop to keep that order.
create function transfer_moves_balances() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
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

-- What a user's command did, by its idempotency key. Bound only by success: written in the command's own transaction.
create table idempotency (
    user_id     text        not null,
    operation   text        not null,
    key         text        not null,
    fingerprint bytea       not null, -- of the command; the same key with another one is refused
    result      text        not null, -- how to find the first answer
    at          timestamptz not null default now(),
    primary key (user_id, operation, key)
);
create index idempotency_at on idempotency (at);

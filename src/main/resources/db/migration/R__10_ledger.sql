-- The ledger: keys of commands, balances, deposits and withdrawals, assets and their caps, reversals, and reading the books.

-- Refuses every change of a row, for every role, also the tables' owner.
create or replace function refuse_change() returns trigger
    language plpgsql
as $$
begin
    raise exception '% is never changed: % refused', tg_table_name, tg_op using errcode = 'insufficient_privilege';
end
$$;

-- With unique references, refuses a second command of a reference; the error's detail is the first command's id. Locks the reference until
-- the transaction ends. So a statement inserts commands in the order of references: two statements cannot deadlock.
create or replace function reference_names_one() returns trigger
    language plpgsql
as $$
declare
    first uuid;
begin
    if (select unique_references from installation) then
        -- A concurrent command of the reference waits here, and then finds the first one.
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

-- Looks up the results of idempotency keys. Locks the keys, in order, until the transaction ends: a concurrent command of the key waits,
-- and then finds the first one's result.
--
-- Returns for each key 'replayed', or 'reused' when another command used it; and the command's subject and transfer. All three are null for
-- an unused key.
create or replace function used_keys(of_operation text, users text[], keys text[], fingerprints bytea[],
                          out verdicts text[], out subjects uuid[], out transfers bigint[])
    language plpgsql
as $$
begin
    perform pg_advisory_xact_lock(l.lock)
    from (select distinct hashtextextended(concat_ws(' ', u.user_id, of_operation, u.key), 0) as lock
          from unnest(users, keys) as u(user_id, key) order by lock) as l;

    -- A statement of its own, so that it sees commits during the wait. The limit forces one look-up a key: a plan made for an empty table
    -- would read all keys of the operation.
    select array_agg(case i.fingerprint = u.fingerprint when true then 'replayed' when false then 'reused' end order by u.n),
           array_agg(i.subject order by u.n), array_agg(i.transfer order by u.n)
    into verdicts, subjects, transfers
    from unnest(users, keys, fingerprints) with ordinality as u(user_id, key, fingerprint, n)
    left join lateral (select * from idempotency
                       where user_id = u.user_id and operation = of_operation and key = u.key limit 1) as i on true;
end
$$;

-- Deletes at most `page` keys older than `keep`, oldest first. Returns the number deleted.
create or replace function idempotency_sweep(keep interval, page integer) returns bigint
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

-- Locks accounts until the transaction ends, in the order of their ids, like every transfer.
create or replace function lock_accounts(ids bigint[]) returns void
    language plpgsql
    security definer -- for roles that may not change a balance
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
as $$
begin
    perform from account as a where a.id = any (ids) order by a.id for no key update;
end
$$;
revoke execute on function lock_accounts(bigint[]) from public;
grant execute on function lock_accounts(bigint[]) to ${app};

-- Locks the accounts that no other transaction has locked, until the transaction ends. Never waits. Returns the others.
create or replace function held_accounts(ids bigint[]) returns bigint[]
    language plpgsql
    security definer -- for roles that may not change a balance
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    free constant bigint[] := array(select a.id from account as a where a.id = any (ids) order by a.id for no key update skip locked);
begin
    return array(select a.id from account as a where a.id = any (ids) and a.id <> all (free));
end
$$;
revoke execute on function held_accounts(bigint[]) from public;
grant execute on function held_accounts(bigint[]) to ${app};

-- Updates balances and counts of claims by the inserted transfers, once a statement, in the order of account ids. So transactions that
-- insert their transfers in one statement cannot deadlock. The settings force a nested loop, which keeps that order.
create or replace function transfer_moves_balances() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
    set enable_nestloop = on -- also within a settlement, which turns it off
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
    if skipped then -- each slot settles once, so the count must equal the highest slot + 1
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

    if exists (select from inserted where kind = 'reversal') then -- else the table is not opened
        if exists (select from inserted where kind = 'reversal'
                   and (not exists (select from reversal as r join transfer as t on t.subject = r.subject and t.id = r.transfer
                                    cross join lateral reversal_side(t.subject, t.kind, t.debit, t.credit) as side
                                    where r.command = inserted.subject and t.amount = inserted.amount
                                      and case t.kind when 'withdrawal' then inserted.debit = side and inserted.credit = t.debit
                                                      else inserted.debit = t.credit and inserted.credit = side end)
                        or exists (select from transfer as x where x.subject = inserted.subject and x.id <> inserted.id))) then
            raise exception 'a reversal names the transfer that it reverses: transfer_reverses_one'
                using errcode = 'foreign_key_violation', constraint = 'transfer_reverses_one';
        end if;
    end if;

    -- Usually all accounts of a statement have one asset, and no transfer can mix two.
    if mixed and exists (select from inserted
               join account as debited on debited.id = inserted.debit
               join account as credited on credited.id = inserted.credit
               where debited.asset <> credited.asset) then
        raise exception 'a transfer moves one asset: transfer_one_asset' using errcode = 'check_violation', constraint = 'transfer_one_asset';
    end if;
    return null;
end
$$;
revoke execute on function transfer_moves_balances() from public;

-- Makes deposits with different keys, or withdrawals of different users. All are committed or none; each has its own verdict. When one
-- cannot be stored (two with one key, one of many deposits beyond the ledger's range), none is, and the caller repeats each alone.
--
-- Takes the kind of all. Of each: the id of its command, the actor, the user, asset, amount and idempotency key, and the command's
-- fingerprint. For the books: the actor's role, and a reference and a reason, or null.
--
-- Returns for each, in order, a verdict. For 'done' and 'replayed' also the command, the transfer and its time.
-- 'done'      the money is moved
-- 'replayed'  the same command moved it before
-- 'reused'    the key was used for another command; nothing is changed
-- 'poor'      the wallet holds less than the amount; nothing is changed
-- 'frozen'    the user is frozen; nothing is changed
-- 'beyond'    the asset's total would leave the ledger's range; nothing is changed
create or replace function move_wallets(
    of_kind text, ids uuid[], actors text[], users text[], assets text[], amounts bigint[], keys text[], fingerprints bytea[],
    roles text[], refs text[], reasons text[])
    returns table (verdict text, command uuid, transfer bigint, at timestamptz)
    language plpgsql
    -- One plan for all calls, perhaps made while the tables are empty. So index look-ups are forced: the cost must not depend on the
    -- tables' sizes.
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
    -- A wait for a lock holds up the commands of the same statement, and the commands after it. So it is short for many and longer for one.
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
    where g.verdict = 'done'
    order by g.reference; -- see reference_names_one

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

-- Makes the deposits of one request, all or none.
--
-- Takes the ids of their commands, the actor, and the request's idempotency key and fingerprint. Of each deposit: its user, asset, amount,
-- and the host's reference and reason, null for none. The key stands for the first command's id.
--
-- Returns a verdict, with
-- 'done'      the transfers and their time, in order
-- 'replayed'  the first command of the first request
-- 'reused'    the key was used for another request; nothing is changed
-- 'twice'     the first deposit (from 1) that repeats another's reference, with unique references; nothing is changed
-- 'beyond'    the first deposit (from 1) at which the asset's total would leave the ledger's range; nothing is changed
create or replace function deposit_all(
    ids uuid[], of_actor text, users text[], assets text[], amounts bigint[], refs text[], reasons text[], of_key text, of_fingerprint bytea,
    out verdict text, out first uuid, out place integer, out transfers bigint[], out at timestamptz)
    language plpgsql
    -- One plan for all calls, perhaps made while the tables are empty. So index look-ups are forced: the cost must not depend on the
    -- tables' sizes.
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
as $$
declare
    wallets bigint[];
    sources bigint[];
begin
    perform set_config('lock_timeout', '3s', true);
    select u.verdicts[1], u.subjects[1] into verdict, first
    from used_keys('deposits', array[of_actor], array[of_key], array[of_fingerprint]) as u;
    if verdict is not null then
        return;
    end if;

    -- Checked first: the trigger's error would name a command of this request, which is rolled back.
    if (select unique_references from installation) then
        select min(g.n) into place
        from (select u.n, row_number() over (partition by u.ref order by u.n) as times
              from unnest(refs) with ordinality as u(ref, n) where u.ref is not null) as g
        where g.times > 1;
        if place is not null then
            verdict := 'twice';
            return;
        end if;
    end if;

    insert into account (kind, owner, asset)
    select distinct s.kind, s.owner, g.asset
    from unnest(users, assets) as g(user_id, asset)
    cross join lateral (values ('wallet', g.user_id), ('source', 'outside')) as s(kind, owner)
    where not exists (select from account as a
                      where a.owner = s.owner and a.kind = s.kind and a.asset = g.asset)
    order by 2, 3, 1
    on conflict do nothing;

    select array_agg((select a.id from account as a
                      where a.owner = g.user_id and a.kind = 'wallet' and a.asset = g.asset) order by g.n),
           array_agg((select a.id from account as a
                      where a.owner = 'outside' and a.kind = 'source' and a.asset = g.asset) order by g.n)
    into wallets, sources
    from unnest(users, assets) with ordinality as g(user_id, asset, n);
    perform lock_accounts(wallets || sources);

    select min(g.n) into place
    from (select u.n, s.balance - sum(u.amount) over (partition by u.source order by u.n) as rest
          from unnest(amounts, sources) with ordinality as u(amount, source, n)
          join account as s on s.id = u.source) as g
    where g.rest <= -9000000000000000000;
    if place is not null then
        verdict := 'beyond';
        return;
    end if;

    insert into command (id, operation, actor, role, key, reference, reason)
    select g.id, 'deposit', of_actor, 'service', of_key, g.ref, g.reason from unnest(ids, refs, reasons) as g(id, ref, reason)
    order by g.ref; -- see reference_names_one

    with moved as (
        insert into transfer (subject, debit, credit, amount, kind)
        select g.id, g.source, g.wallet, g.amount, 'deposit'
        from unnest(ids, sources, wallets, amounts) with ordinality as g(id, source, wallet, amount, n)
        order by g.n
        returning transfer.subject, transfer.id
    )
    select array_agg(m.id order by g.n) into transfers
    from unnest(ids) with ordinality as g(id, n) join moved as m on m.subject = g.id;

    insert into idempotency (user_id, operation, key, fingerprint, subject)
    values (of_actor, 'deposits', of_key, of_fingerprint, ids[1]);
    verdict := 'done';
    first := ids[1];
    at := now();
end
$$;

-- The smallest UUIDv7 of a moment: later ids are not below it.
create or replace function first_uuid(moment timestamptz) returns uuid
    language sql
    immutable
return (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- Declares an asset, or changes its symbol, caps and senders. One call at a time. Returns
--
-- 'declared'  it is new
-- 'known'     it was declared before; it now has these terms
-- 'scale'     it has another scale; a change would change the worth of all amounts
-- 'day'       it has a cap a day, which cannot be removed: sends without a cap are not counted
-- 'full'      there are 1,000 assets
create or replace function declare_asset(
    of_code text, of_scale smallint, of_symbol text, of_senders text,
    of_packet_cap bigint, of_share_cap bigint, of_day_cap bigint)
    returns text
    language plpgsql
as $$
declare
    known asset;
begin
    perform pg_advisory_xact_lock(hashtextextended('declare_asset', 0));
    select * into known from asset where code = of_code;
    if not found then
        if (select count(*) from asset) >= 1000 then
            return 'full';
        end if;
        insert into asset (code, scale, symbol, senders, packet_cap, share_cap, day_cap)
        values (of_code, of_scale, of_symbol, of_senders, of_packet_cap, of_share_cap, of_day_cap);
        return 'declared';
    end if;
    if known.scale <> of_scale then
        return 'scale';
    end if;
    if known.day_cap is not null and of_day_cap is null then
        return 'day';
    end if;
    update asset
    set symbol = of_symbol, senders = of_senders, packet_cap = of_packet_cap, share_cap = of_share_cap, day_cap = of_day_cap
    where code = of_code;
    return 'known';
end
$$;

-- Checks that each account's asset is declared. This covers packets, campaigns and draws, which have accounts. Checked once a statement: a
-- foreign key would look up and lock once for each wallet that a claim opens. Assets are never deleted.
create or replace function asset_is_declared() returns trigger
    language plpgsql
as $$
declare
    unknown text;
begin
    select n.asset into unknown from new_accounts as n where not exists (select from asset as a where a.code = n.asset) limit 1;
    if found then
        raise exception 'asset % is not declared: asset_is_declared', unknown
            using errcode = 'foreign_key_violation', constraint = 'asset_is_declared';
    end if;
    return null;
end
$$;

-- Checks sends against the caps of their assets, and counts the accepted ones. The wallets are locked, each occurs once, so no other
-- transaction counts at the same time. Pools obey the caps of a packet and a share; campaigns have no cap a day.
--
-- Takes the verdicts so far and changes a 'done' to:
-- 'large'  the packet is above the asset's cap
-- 'rich'   a share might be above the asset's cap
-- 'limit'  with this packet, the sender's day would be above the asset's cap
create or replace function judge_caps(
    verdicts text[], assets text[], totals bigint[], maxs bigint[], senders text[], wallets bigint[], campaigns uuid[])
    returns text[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
as $$
declare
    today   constant date := (now() at time zone 'UTC')::date;
    judged  text[];
    earlier bigint[]; -- the wallet's sum before, today; null without a cap a day
begin
    select array_agg(case when g.verdict <> 'done' or c.code is null or c.day_cap is null or g.campaign is not null then null
                          else coalesce(
                              -- A cap is never removed, so a wallet whose latest day is earlier has sent nothing today.
                              (select case when s.day = today then s.amount else 0 end
                               from sent_on_day as s where s.wallet = g.wallet and s.day <= today),
                              -- The first send under the cap. A server's clock made the ids, so the range begins a day earlier.
                              (select sum(p.amount)::bigint from packet as p
                               where p.sender = g.sender and p.id >= first_uuid(today - interval '1 day') and p.asset = g.asset
                                 and p.refund_to = g.wallet and p.created_at >= today::timestamp at time zone 'UTC'),
                              0)
                     end order by g.n),
           array_agg(case when g.verdict <> 'done' then g.verdict
                          when g.total > c.packet_cap then 'large'
                          when g.max > c.share_cap then 'rich'
                          else 'done'
                     end order by g.n)
    into earlier, judged
    from unnest(verdicts, assets, totals, maxs, senders, wallets, campaigns) with ordinality
             as g(verdict, asset, total, max, sender, wallet, campaign, n)
    left join lateral (select * from asset where code = g.asset limit 1) as c on true;

    judged := array(select case when g.verdict = 'done' and g.earlier + g.total
                                     > (select c.day_cap from asset as c where c.code = g.asset) then 'limit'
                                else g.verdict end
                    from unnest(judged, earlier, assets, totals) with ordinality as g(verdict, earlier, asset, total, n) order by g.n);

    insert into sent_on_day (wallet, day, amount)
    select g.wallet, today, g.earlier + g.total
    from unnest(judged, earlier, wallets, totals) as g(verdict, earlier, wallet, total)
    where g.verdict = 'done' and g.earlier is not null
    on conflict (wallet) do update set
        amount = case when excluded.day >= sent_on_day.day then excluded.amount else sent_on_day.amount end,
        day = greatest(sent_on_day.day, excluded.day); -- a transaction from before midnight may commit late
    return judged;
end
$$;

-- The command of a transfer that a command made directly.
create or replace function command_of(of_subject uuid, of_transfer bigint, of_kind text) returns uuid
    language sql
    stable
return case when of_kind in ('deposit', 'withdrawal', 'send', 'fund', 'reversal')
            then coalesce((select r.command from budget_raise as r where r.campaign = of_subject and r.transfer = of_transfer), of_subject)
       end;

-- The other account of a reversal: the transfer's other side. For money out of an escrow, it is the wallet that had paid into the escrow: a
-- closed escrow stays empty. Null for kinds that cannot be reversed:
-- - A send, fund or cost: the packet or draw would lack its money. End it instead.
-- - A refund, return or proceeds: the wallet's own money.
create or replace function reversal_side(of_subject uuid, of_kind text, debit bigint, credit bigint) returns bigint
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

-- Reverses a transfer of a user's wallet by another transfer. Idempotent by the user and the key.
--
-- Returns a verdict. For 'done' and 'replayed' also the reversing transfer, for others `about`.
-- 'done'      the transfer is reversed
-- 'replayed'  the same command reversed it before
-- 'reused'    the key was used for another command; nothing is changed, as for all below
-- 'unknown'   the user's wallets have no such transfer
-- 'fixed'     its kind cannot be reversed, or it came from this wallet
-- 'reversed'  another command reversed it: `about` is that command's id
-- 'poor'      the wallet holds less than the amount: `about` is its balance
create or replace function reverse_transfer(
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

    -- From here on no other transaction reverses it, and the next statement sees earlier commits.
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
    -- One statement: the trigger of each table finds the other's row.
    with named as (
        insert into reversal (command, subject, transfer) values (new_command, moved.subject, moved.id)
    )
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

-- Checks that the row that a new row points to exists, in place of a foreign key. Such rows never change, so this is all that a key would
-- check. A key would hold the row's month for ever, but rows that point to it outlast the month. A reversal has its own transfer, too:
-- without it, the row would refuse the reversal for ever.
create or replace function points_to_a_row() returns trigger
    language plpgsql
as $$
declare
    there boolean;
begin
    if tg_table_name = 'budget_raise' then
        there := exists (select from transfer as t where t.subject = new.campaign and t.id = new.transfer);
    elsif tg_table_name = 'reversal' then
        there := exists (select from transfer as t where t.subject = new.subject and t.id = new.transfer)
                 and exists (select from transfer as t where t.subject = new.command and t.kind = 'reversal');
    else
        there := exists (select from play as p where p.draw = new.draw and p.seq = new.seq);
    end if;
    if not there then
        raise exception 'a row of % points to nothing: %', tg_table_name, tg_name
            using errcode = 'foreign_key_violation', constraint = tg_name;
    end if;
    return null;
end
$$;

-- A page of the transfers from a moment on and before another, in the order of ids, after the id `after_id`. All kinds, unless one is
-- given.
create or replace function transfers_between(since timestamptz, until timestamptz, after_id bigint, most integer, of_kind text)
    returns setof transfer
    language plpgsql
    stable
    set enable_seqscan = off
as $$
begin
    return query
        select * from transfer as t
        where t.at >= since and t.at < until and (t.at > since or t.id > after_id) and (of_kind is null or t.kind = of_kind)
        order by t.at, t.id limit most;
end
$$;

-- Whether a time has this many transfers. Reads no more than that, and the rest of their pages.
create or replace function transfers_are_many(since timestamptz, until timestamptz, many integer) returns boolean
    language plpgsql
    stable
    set enable_seqscan = off
as $$
begin
    return (select count(*) >= many from (select from transfer as t where t.at >= since and t.at < until limit many) as found);
end
$$;

-- Totals of the transfers from a moment on and before another, by asset and kind.
create or replace function transfer_totals(since timestamptz, until timestamptz)
    returns table (asset text, kind text, transfers bigint, amount numeric)
    language plpgsql
    stable
    set enable_seqscan = off
as $$
begin
    return query
        select d.asset, t.kind, count(*), sum(t.amount)
        from transfer as t join account as d on d.id = t.debit
        where t.at >= since and t.at < until
        group by d.asset, t.kind order by d.asset, t.kind;
end
$$;

-- What the host's support looks up, and what it does for many users at once.

-- Lists of packets by how they ended. Neither a send nor a claim writes into them: a refund does.
create index packet_refunded on packet (id) where refund > 0;
create index packet_ended_early on packet (id) where ending is not null;

-- Deposits of one request: all or none.
--
-- Takes the ids of their commands; who asked for it; of each its user, asset, amount and the host's
-- reference and reason, null for none; the
-- request's idempotency key and fingerprint. The first command's id is what the key stands for. Returns a verdict, and
-- 'done'      the transfers and their time, in order
-- 'replayed'  the first command of then
-- 'reused'    the key was used for another request; nothing is changed
-- 'twice'     the first one (from 1) that repeats the reference of another, where references are unique; nothing is changed
-- 'beyond'    from this one on (from 1) the asset's total would leave the ledger's range; nothing is changed
create function deposit_all(
    ids uuid[], of_actor text, users text[], assets text[], amounts bigint[], refs text[], reasons text[], of_key text, of_fingerprint bytea,
    out verdict text, out first uuid, out place integer, out transfers bigint[], out at timestamptz)
    language plpgsql
    -- The plan is made once, maybe while the tables are still empty: what a call costs must not depend on their sizes.
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

    -- The first of them would be named as the other command, and then it is rolled back.
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
    select g.id, 'deposit', of_actor, 'service', of_key, g.ref, g.reason from unnest(ids, refs, reasons) as g(id, ref, reason);

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

-- Packets: sending them, settling the journal's claims and closes, and setting aside refused entries.

-- Returns the generations of shards. They stay the current ones until the transaction ends: draw_generation waits for it.
--
-- The advisory locks queue fairly. A waiting lock of a row would starve: new share locks of the row are granted beside the present ones.
create or replace function hold_generations(of_shards smallint[]) returns table (id smallint, epoch bigint, nonce text)
    language plpgsql
as $$
begin
    perform pg_advisory_xact_lock_shared(26727, g.shard)
    from (select distinct shard from unnest(of_shards) as shard order by shard) as g;
    -- A statement of its own, so that it sees commits during the wait.
    return query select s.id, s.epoch, s.nonce from shard as s where s.id = any (of_shards);
end
$$;

-- Draws the next generation of a shard, with an epoch above all used ones: an epoch has one generation. Waits for transactions that hold
-- the current one.
--
-- Takes the generation to replace, the highest epoch that Redis and the servers know, whether this database has gone back, and the new
-- generation's nonce and replid.
--
-- Returns the epoch; null when another recovery has drawn one.
create or replace function draw_generation(
    of_shard smallint, from_epoch bigint, from_nonce text, known_epoch bigint, went_back boolean, new_nonce text, new_replid text)
    returns bigint
    language plpgsql
as $$
declare
    drawn bigint;
begin
    perform pg_advisory_xact_lock(26727, of_shard); -- see hold_generations
    update shard
    set epoch = greatest(epoch, known_epoch) + 1, nonce = new_nonce, last_seq = 0, replid = new_replid,
        restored = case when went_back then greatest(epoch, known_epoch) + 1 else restored end
    where id = of_shard and epoch = from_epoch and nonce = from_nonce
    returning epoch into drawn;
    if went_back and drawn is not null and outbox_begins_anew() then
        perform feeds_begin_anew();
    end if;
    return drawn;
end
$$;

-- Names the database and the start of Postgres. Another one may have come out of a backup.
create or replace function postgres_start() returns text
    language sql
    stable
return (select d.oid || '@' || extract(epoch from pg_postmaster_start_time())
        from pg_database as d where d.datname = current_database());

-- The moment up to which settlements accept something as due, by this clock. The extra minute is for a clock that went back a little, on
-- another host: an entry that was due when the script wrote it must not become void.
create or replace function latest_moment() returns timestamptz
    language sql
    stable
return now() + interval '1 minute';

-- Whether a packet or draw is open at a moment. One that was open when it was made stays open, whatever the clock says. Otherwise, after
-- Postgres' clock went back by minutes, each slot from Redis would be void, and the shard would recover again and again. One that opens
-- later (a drop of a rain) waits for its time.
create or replace function is_open_at(opens_at timestamptz, created_at timestamptz, moment timestamptz) returns boolean
    language sql
    immutable
return opens_at <= moment or opens_at <= created_at;

create or replace view claim as
select t.subject as packet, t.slot, w.owner as user_id, t.amount, t.at
from transfer as t join account as w on w.id = t.credit
where t.slot is not null;

-- A packet with its progress. The seed of an open packet never leaves Postgres.
create or replace view packet_state as
select p.id, p.shard, p.group_id, p.sender, p.kind, p.asset, p.amount, p.count, p.min, p.max, p.split, p.split_version,
       encode(p.commitment, 'hex') as commitment, p.greeting, p.metadata, p.recipients, p.passcode,
       p.created_at, p.opens_at, p.expires_at, p.expires_at <= now() as due,
       p.closed_at, p.refund, p.ending, p.ended_by, p.luckiest,
       (select balance from account where id = p.escrow) as held,
       -- Slots have no gaps, so the highest one counts the claims. It takes one step down the index.
       coalesce((select max(slot) + 1 from transfer where subject = p.id and slot is not null), 0) as claimed_count,
       case when p.closed_at is not null then encode(p.seed, 'hex') end as seed
from packet as p;

-- The terms of a packet that is a pool.
create or replace view pool_terms as
select o.packet, o.campaign, o.product, o.opener, c.name as campaign_name, c.zone, c.definition -> 'claiming' as claiming,
       case c.kind when 'rain' then c.definition end as rain
from pool as o join campaign as c on c.id = o.campaign;

grant select on packet_state, pool_terms to ${app};

-- The settled claims of users on packets, at most one for each pair. Forces one index look-up a pair. A plan that reads all claims of a
-- packet or a user for each pair takes as long as all other work together.
create or replace function settled_claims(packets uuid[], users text[])
    returns table (packet uuid, user_id text, slot integer, amount bigint, asset text, at timestamptz)
    language plpgsql
    stable
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $$
begin
    return query
        select k.packet, k.user_id, c.slot, c.amount, c.asset, c.at
        from unnest(packets, users) as k(packet, user_id)
        cross join lateral (select t.slot, t.amount, w.asset, t.at
                            from (select x.id, x.asset from account as x
                                  where x.owner = k.user_id and x.kind = 'wallet' offset 0) as w
                            -- The order of one index forces this index: for a table that it believes empty, Postgres takes any.
                            cross join lateral (select * from transfer as c
                                                where c.credit between w.id and w.id and c.subject = k.packet and c.slot is not null
                                                order by c.credit limit 1) as t
                            limit 1) as c;
end
$$;

create or replace function amounts_come_first() returns trigger
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $$
begin
    if exists (select from new_blocks as b where exists (select from packet as p where p.id = b.packet)) then
        raise exception 'a packet has its amounts' using errcode = 'insufficient_privilege';
    end if;
    return null;
end
$$;

-- Checks that a packet's escrow and payer exist, and that its amounts equal its total. Uses look-ups: for "not exists … or not exists …",
-- Postgres 18 may hash a whole table, even with sequential scans off. A plan made with few accounts would later read all of them.
create or replace function packet_adds_up() returns trigger
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    wrong record;
begin
    -- Once a statement; foreign keys would look up and lock for each row. An account's owner and kind are unique for an asset and never
    -- change, so no two packets share one.
    if exists (select from new_packets as n
               where (select a.owner = n.id::text and a.kind = 'escrow' and a.asset = n.asset
                      from account as a where a.id = n.escrow) is not true
                  or (select a.asset = n.asset from account as a where a.id = n.refund_to) is not true
                  or (select true from shard as s where s.id = n.shard) is not true) then
        raise exception 'a packet has an escrow of its own, one who paid, and a shard: packet_has_escrow'
            using errcode = 'foreign_key_violation', constraint = 'packet_has_escrow';
    end if;

    select n.id, n.amount into wrong
    from new_packets as n
    where (select count(*) <> (n.count + 999) / 1000
                  or bool_or(array_lower(b.amounts, 1) <> 1 or s.shares <> least(1000, n.count - b.block * 1000))
                  or sum(s.sum) <> n.amount
                  or min(s.least) < n.min or max(s.most) > n.max
                  or (array_agg(b.block * 1000 + array_position(b.amounts, s.most) - 1 order by s.most desc, b.block))[1]
                     <> n.luckiest
           from packet_amounts as b
           cross join lateral (select count(a) as shares, sum(a) as sum, min(a) as least, max(a) as most
                               from unnest(b.amounts) as a) as s
           where b.packet = n.id) is not false
    limit 1;
    if found then
        raise exception 'the amounts of packet % do not add up to %', wrong.id, wrong.amount
            using errcode = 'check_violation', constraint = 'packet_adds_up';
    end if;
    return null;
end
$$;

-- Checks that a closed packet has a refund unless all slots are claimed, that its escrow holds nothing, or the refund that is due, and that
-- any other refund is paid. Once a statement; no settlement changes a packet that stays open.
create or replace function packet_closes_whole() returns trigger
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $$
declare
    whole boolean := not exists (
        select from new_packets as n
        where n.closed_at is not null
          and (select e.balance = coalesce((select n.refund from refund_due as d where d.packet = n.id), 0)
                      and (e.claims = n.count) = (n.refund = 0)
               from account as e where e.id = n.escrow) is not true);
begin
    if exists (select from new_packets as n where n.refund > 0) then -- else the transfers are not opened
        whole := whole and not exists (
            select from new_packets as n
            where n.refund > 0 and not exists (select from refund_due as d where d.packet = n.id)
              and (select t.kind = 'refund' and t.debit = n.escrow and t.credit = n.refund_to and t.amount = n.refund
                   from transfer as t where t.subject = n.id order by t.id desc limit 1) is not true);
    end if;
    if not whole then
        raise exception 'the refund of a packet is the rest of its escrow: packet_closes_whole'
            using errcode = 'check_violation', constraint = 'packet_closes_whole';
    end if;
    return null;
end
$$;

-- Sends packets of different senders, and pools that different users open. All are committed or none; each has its own verdict. When one
-- cannot be stored (two with one key, amounts that do not add up), none is, and the caller repeats each alone.
--
-- Call it by parameter names. Each parameter is an array with one element a packet, in one order.
--
-- Returns for each, in order, a verdict. For 'done' and 'replayed' also the packet. For 'done' also the shard's generation, which a
-- recovery can end only after it sees the packet.
-- 'done'      the packet is sent
-- 'replayed'  the same command sent it before
-- 'reused'    the key was used for another command; nothing is changed
-- 'poor'      the wallet holds less than the amount; nothing is changed
-- 'spent'     the campaign's budget holds less than the amount; nothing is changed
-- and the verdicts of judge_pools, judge_restrictions and judge_caps
create or replace function send_packets(
    -- The packet's row.
    ids uuid[], shards smallint[], groups text[], senders text[], kinds text[], assets text[], totals bigint[], counts integer[],
    splits text[], split_versions smallint[], mins bigint[], maxs bigint[], seeds bytea[], commitments bytea[], luckiests integer[],
    greetings text[], passcodes bytea[],
    metadatas text[], -- the sender's free text as JSON, null for none
    recipients text[], -- one text for each packet, separated by spaces; null unless exclusive
    openings timestamptz[], -- null for now
    lifetimes bigint[], -- from the opening to the expiry, in milliseconds
    -- The key: its user (a pool's opener, else the sender), and the command's fingerprint.
    actors text[], keys text[], fingerprints bytea[],
    -- For the books: the actor, its role, and a reference and a reason, or null.
    askers text[], roles text[], refs text[], reasons text[],
    -- A pool's campaign, which pays and is the sender, and its product. Null for a plain packet, which its sender's wallet pays.
    campaigns uuid[], products text[],
    -- The amounts, one element a block: its packet's place (from 1), its number, and its amounts as the text of an array, since packets
    -- have different counts.
    block_places integer[], blocks integer[], block_amounts text[])
    returns table (verdict text, packet uuid, epoch bigint, nonce text,
                   created_at timestamptz, opens_at timestamptz, expires_at timestamptz)
    language plpgsql
    -- One plan for all calls, perhaps made while the tables are empty. So index look-ups are forced: the cost must not depend on the
    -- tables' sizes.
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_mergejoin = off
as $$
declare
    verdicts    text[];
    subjects    uuid[];
    epochs      bigint[];
    nonces      text[];
    wallets     bigint[];
    escrows     bigint[];
    pools constant boolean := array_remove(campaigns, null) <> '{}';
    spent jsonb := '{}'; -- by the pools of this statement, for each campaign
    held  bigint;
begin
    -- A wait for a lock holds up the commands of the same statement, and the commands after it. So it is short for many and longer for one.
    perform set_config('lock_timeout', case when cardinality(keys) > 1 then '1s' else '3s' end, true);
    select u.verdicts, u.subjects into verdicts, subjects from used_keys('send', actors, keys, fingerprints) as u;

    -- Before the accounts: a send that waits here for a recovery blocks no settlement.
    select array_agg(h.epoch order by g.n), array_agg(h.nonce order by g.n)
    into epochs, nonces
    from unnest(shards) with ordinality as g(shard, n)
    left join hold_generations(array(select s.shard from unnest(shards, verdicts) as s(shard, verdict)
                                     where s.verdict is null)) as h on h.id = g.shard;

    wallets := array(
        select (select a.id from account as a
                where a.owner = g.sender and a.kind = 'wallet' and a.asset = g.asset and g.verdict is null)
        from unnest(senders, assets, verdicts) with ordinality as g(sender, asset, verdict, n)
        order by g.n);
    if pools then
        select j.verdicts, j.lifetimes into verdicts, lifetimes
        from judge_pools(verdicts, lifetimes, campaigns, products, actors, groups) as j;
        wallets := array(
            select case when g.campaign is null then g.wallet
                        else (select c.escrow from campaign as c where c.id = g.campaign and g.verdict is null) end
            from unnest(wallets, campaigns, verdicts) with ordinality as g(wallet, campaign, verdict, n)
            order by g.n);
    end if;
    perform lock_accounts(wallets);

    verdicts := array(
        select coalesce(g.verdict, case
                   when g.campaign is not null then 'done' -- unless its budget is spent, see below
                   when coalesce((select a.balance from account as a where a.id = g.wallet), 0) >= g.total then 'done'
                   else 'poor'
               end)
        from unnest(verdicts, wallets, totals, campaigns) with ordinality as g(verdict, wallet, total, campaign, n)
        order by g.n);
    -- After the locks, so that a send that waited for a wallet sees the commits before it, and their caps. Checks the user whose wallet
    -- pays, also when the host's backend sends, and the opener of a pool.
    verdicts := judge_restrictions(
        verdicts,
        array(select case when g.campaign is null then g.sender else g.actor end
              from unnest(senders, actors, campaigns) with ordinality as g(sender, actor, campaign, n) order by g.n),
        groups);
    if exists (select from asset as c where c.capped and c.code = any (assets)) then
        verdicts := judge_caps(verdicts, assets, totals, maxs, senders, wallets, campaigns);
    end if;

    if pools then
        for i in 1 .. cardinality(verdicts) loop
            if campaigns[i] is not null and verdicts[i] = 'done' then
                held := coalesce((select a.balance from account as a where a.id = wallets[i]), 0)
                        - coalesce((spent ->> campaigns[i]::text)::bigint, 0);
                if held >= totals[i] then
                    spent := spent || jsonb_build_object(
                        campaigns[i]::text, coalesce((spent ->> campaigns[i]::text)::bigint, 0) + totals[i]);
                else
                    verdicts[i] := 'spent';
                end if;
            end if;
        end loop;
    end if;

    insert into account (kind, owner, asset)
    select 'escrow', g.id::text, g.asset
    from unnest(ids, assets, verdicts) as g(id, asset, verdict)
    where g.verdict = 'done'
    order by 2, 3;
    escrows := array(
        select (select a.id from account as a where a.owner = g.id::text and a.kind = 'escrow' and a.asset = g.asset)
        from unnest(ids, assets) with ordinality as g(id, asset, n)
        order by g.n);

    insert into packet_amounts (packet, block, amounts)
    select ids[g.place], g.block, g.amounts::bigint[]
    from unnest(block_places, blocks, block_amounts) as g(place, block, amounts)
    where verdicts[g.place] = 'done';

    insert into packet (id, shard, group_id, sender, kind, asset, amount, count, split, seed, luckiest, greeting, recipients,
                        passcode, escrow, refund_to, opens_at, expires_at, min, max, split_version, commitment, metadata)
    select g.id, g.shard, g.group_id, g.sender, g.kind, g.asset, g.total, g.count, g.split, g.seed, g.luckiest, g.greeting,
           string_to_array(g.recipients, ' '), g.passcode, g.escrow, g.wallet, greatest(g.opening, now()),
           greatest(g.opening, now()) + g.lifetime * interval '1 millisecond', g.min, g.max, g.split_version, g.commitment,
           g.metadata::jsonb
    from unnest(verdicts, ids, shards, groups, senders, kinds, assets, totals, counts, splits, seeds, luckiests, greetings,
                recipients, passcodes, escrows, wallets, openings, lifetimes, mins, maxs, split_versions, commitments, metadatas)
             as g(verdict, id, shard, group_id, sender, kind, asset, total, count, split, seed, luckiest, greeting,
                  recipients, passcode, escrow, wallet, opening, lifetime, min, max, split_version, commitment, metadata)
    where g.verdict = 'done';

    insert into command (id, operation, actor, role, key, reference, reason)
    select g.id, 'send', g.asker, g.role, g.key, g.reference, g.reason
    from unnest(verdicts, ids, askers, roles, keys, refs, reasons) as g(verdict, id, asker, role, key, reference, reason)
    where g.verdict = 'done'
    order by g.reference; -- see reference_names_one

    if pools then
        insert into pool (packet, campaign, product, opener, day)
        select g.id, g.campaign, g.product, g.actor, local_day(now(), c.zone)
        from unnest(verdicts, ids, campaigns, products, actors) as g(verdict, id, campaign, product, actor)
        join campaign as c on c.id = g.campaign
        where g.verdict = 'done';
    end if;

    with moved as (
        insert into transfer (subject, debit, credit, amount, kind)
        select g.id, g.wallet, g.escrow, g.total, 'send'
        from unnest(verdicts, wallets, escrows, totals, ids) as g(verdict, wallet, escrow, total, id)
        where g.verdict = 'done'
        returning transfer.subject, transfer.id
    )
    insert into idempotency (user_id, operation, key, fingerprint, subject, transfer)
    select g.actor, 'send', g.key, g.fingerprint, m.subject, m.id
    from unnest(actors, keys, fingerprints, ids) as g(actor, key, fingerprint, id)
    join moved as m on m.subject = g.id;

    return query
        select g.verdict,
               case g.verdict when 'done' then g.id when 'replayed' then g.subject end,
               g.epoch, g.nonce, now(), greatest(g.opening, now()),
               greatest(g.opening, now()) + g.lifetime * interval '1 millisecond'
        from unnest(verdicts, ids, subjects, epochs, nonces, openings, lifetimes) with ordinality
                 as g(verdict, id, subject, epoch, nonce, opening, lifetime, n)
        order by g.n;
end
$$;

-- Moves cursors, all or none: the first effect of every settlement. Both errors undo the whole statement:
-- HB001  a stale writer: an old generation, or another owner moved the cursor first.
-- HB003  one of the packets or draws is set aside, and the writer does not know it (quarantine_unit).
create or replace function move_cursors(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[], units uuid[] default '{}')
    returns void
    language plpgsql
as $$
declare
    moved bigint;
begin
    perform from shard where id = any (shards) order by id for no key update; -- an update would lock them in any order
    update shard set last_seq = m.to_seq
    from (select * from unnest(shards, epochs, nonces, from_seqs, to_seqs) as u(id, epoch, nonce, from_seq, to_seq)
          order by id) as m
    where shard.id = m.id and shard.epoch = m.epoch and shard.nonce = m.nonce and shard.last_seq = m.from_seq;
    get diagnostics moved = row_count;
    if moved <> cardinality(shards) then
        raise exception 'stale cursor' using errcode = 'HB001';
    end if;
    if exists (select from quarantine_unit as q where q.id = any (units)) then
        raise exception 'a packet or a draw is set aside' using errcode = 'HB003';
    end if;
end
$$;

-- Settles claims, each a transfer from escrow to wallet, and closes drained packets.
--
-- Takes for each claim its packet's place in packets, from 1. The caller passes the amounts, since a subscript of a large array in a row is
-- slow; reconcile compares them with the packet's.
--
-- Settles all claims or none. Nothing happens in these cases, and settle_claims_but_void then settles the valid claims:
-- HB002             a packet is unknown, not open yet or closed.
-- HB002             a slot does not follow the settled ones (by transfer_moves_balances).
-- unique_violation  a slot or a user is taken.
--
-- Looks up each packet and each wallet once, by an index. One plan serves all calls, perhaps made while the tables are empty, and the cost
-- must not depend on their sizes.
--
-- Returns the time of settlement, and the packets that are drained now.
create or replace function settle_claims(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    packets uuid[], places integer[], slots integer[], users text[], amounts bigint[],
    out settled_at timestamptz, out drained uuid[], out void integer[])
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_material = off
as $$
declare
    escrows bigint[];
    assets  text[];
    one     text; -- the asset, when all packets have one: a subscript of a text[] takes time by its position
    counts  integer[];
    homes   smallint[]; -- the shards
    wallets bigint[];
    latest  constant timestamptz := latest_moment();
begin
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, packets);

    select array_agg(case when p.closed_at is null and is_open_at(p.opens_at, p.created_at, latest) then p.escrow end order by g.n),
           array_agg(p.asset order by g.n), array_agg(p.count order by g.n), array_agg(p.shard order by g.n)
    into escrows, assets, counts, homes
    from unnest(packets) with ordinality as g(id, n)
    left join packet as p on p.id = g.id;
    if array_position(escrows, null) is not null then
        raise exception 'a packet is unknown, not open yet or closed' using errcode = 'HB002';
    end if;

    if assets[1] = all (assets) then
        one := assets[1];
    end if;

    -- Runs twice when a wallet is new. A statement of its own sees wallets that another transaction just made.
    loop
        wallets := array(
            select (select id from account where owner = g.user_id and kind = 'wallet' and asset = coalesce(one, assets[g.place]))
            from unnest(users, places) with ordinality as g(user_id, place, n)
            order by g.n);
        exit when array_position(wallets, null) is null;
        insert into account (kind, owner, asset)
        select distinct 'wallet', g.user_id, coalesce(one, assets[g.place])
        from unnest(users, places, wallets) as g(user_id, place, wallet)
        where g.wallet is null
        order by 2, 3
        on conflict do nothing;
    end loop;

    perform set_config('hongbao.tells_claims', 'on', true);
    insert into transfer (subject, debit, credit, amount, kind, slot)
    select packets[g.place], escrows[g.place], g.wallet, g.amount, 'claim', g.slot
    from unnest(places, wallets, amounts, slots) as g(place, wallet, amount, slot);

    perform set_config('hongbao.tells_claims', 'off', true);
    insert into outbox (shard, type, subjects, firsts, lasts, events)
    select homes[g.place], 'claim.settled', array_agg(packets[g.place]), array_agg(g.first), array_agg(g.last), sum(g.last - g.first + 1)
    from (select place, min(slot) as first, max(slot) as last from unnest(places, slots) as u(place, slot) group by place) as g
    group by 1;

    drained := close_drained(array(
        select packets[g.place] from unnest(places, slots) as g(place, slot) where g.slot = counts[g.place] - 1));
    settled_at := now();
    void := '{}';
end
$$;

-- Closes the packets whose last share is claimed. Amounts are above 0, so their escrow is empty. Looks up each packet by its id: with a
-- condition on closed_at, Postgres might read all open packets.
create or replace function close_drained(packets uuid[]) returns uuid[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    drained constant uuid[] := array(
        select d.id
        from unnest(packets) as d(id)
        where (select p.closed_at is null and escrow.balance = 0
               from packet as p join account as escrow on escrow.id = p.escrow
               where p.id = d.id));
begin
    if cardinality(drained) > 0 then
        update packet set closed_at = now() where id = any (drained);
    end if;
    return drained;
end
$$;

-- Like settle_claims, when some claims may be void. Seldom used, and slower.
--
-- A claim is void when its packet is unknown, not open yet or closed, when its slot or user is taken, or when its slot does not follow the
-- settled ones. A skipped slot is never given out again, so settling beyond it would strand its share. A void claim was never answered as
-- settled.
--
-- Also returns the void claims' places, from 1.
create or replace function settle_claims_but_void(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    packets uuid[], places integer[], slots integer[], users text[], amounts bigint[],
    out settled_at timestamptz, out drained uuid[], out void integer[])
    language plpgsql
as $$
begin
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, packets);

    insert into account (kind, owner, asset)
    select distinct 'wallet', g.user_id, p.asset
    from unnest(places, users) as g(place, user_id)
    join packet as p on p.id = packets[g.place]
    where not exists (select from account as a
                      where a.owner = g.user_id and a.kind = 'wallet' and a.asset = p.asset)
    order by 2, 3
    on conflict do nothing;

    with open as (
        select p.id, p.escrow, p.asset, coalesce((select max(slot) + 1 from transfer where subject = p.id and slot is not null), 0) as next
        from packet as p
        where p.id = any (packets) and p.closed_at is null and is_open_at(p.opens_at, p.created_at, latest_moment())
    ), free as ( -- slots and users that are free, also of earlier claims in this call
        select distinct on (c.packet, c.wallet) c.*
        from (select distinct on (p.id, u.slot) p.escrow, w.id as wallet, u.amount, p.id as packet, u.slot, u.n, p.next
              from unnest(places, slots, users, amounts) with ordinality as u(place, slot, user_id, amount, n)
              join open as p on p.id = packets[u.place] and u.slot >= p.next
              join account as w on w.owner = u.user_id and w.kind = 'wallet' and w.asset = p.asset
              where not exists (select from transfer as t where t.credit = w.id and t.subject = p.id and t.slot is not null)
              order by p.id, u.slot, u.n) as c
        order by c.packet, c.wallet, c.n
    ), given as ( -- the claims without a gap before them
        select * from (select f.*, row_number() over (partition by f.packet order by f.slot) as nth from free as f) as f
        where f.slot = f.next + f.nth - 1
    ), settled as (
        insert into transfer (subject, debit, credit, amount, kind, slot)
        select packet, escrow, wallet, amount, 'claim', slot from given order by n
        on conflict do nothing
        returning subject, slot, credit
    )
    select array(select n::integer from generate_subscripts(users, 1) as n
                 except
                 select max(n)::integer -- no join: the planner expects one row each, and would compare all pairs
                 from (select packet, slot, wallet, n from given
                       union all
                       select subject, slot, credit, null from settled) as each
                 group by packet, slot, wallet
                 having count(*) = 2
                 order by 1)
    into void;

    drained := close_drained(packets);
    settled_at := now();
end
$$;

-- Settles closes: pays the escrow's remainder to the account that paid, once.
-- A closed packet is left alone.
-- A packet that is not due (latest_moment) is left alone, unless the close names an ending, which the script decided.
-- A remainder that cannot be paid is an error: no packet may close with money left over.
-- A packet whose payer's account is locked closes, and its refund is due.
--
-- Takes for each close its packet. For an early end also 'cancelled' or 'closed', and the actor; both null when the time ran out.
--
-- Returns the packets that are closed now, and their shards; and the packets that are not due: a restore of Postgres lost their
-- campaign's end.
create or replace function settle_closes(
    shards smallint[], epochs bigint[], nonces text[], from_seqs bigint[], to_seqs bigint[],
    packets uuid[], endings text[] default '{}', enders text[] default '{}',
    out settled_at timestamptz, out closed uuid[], out closed_shards smallint[], out early uuid[])
    language plpgsql
    -- One plan for all calls, perhaps made while the tables are empty: the cost must not depend on the tables' sizes.
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    held       bigint[];
    remainders bigint[];
begin
    perform move_cursors(shards, epochs, nonces, from_seqs, to_seqs, packets);
    if array_remove(endings, null) <> '{}' then
        perform drops_never_fall(packets, endings);
    end if;

    -- Locks accounts before feeds: a settlement of claims, too, holds its accounts when it appends an end to a feed.
    perform from packet where id = any (packets) order by id for no key update;
    held := held_accounts(array(select p.refund_to from packet as p where p.id = any (packets) and p.closed_at is null));
    perform lock_accounts(array(select p.escrow from packet as p where p.id = any (packets) and p.closed_at is null));

    with due as (
        select p.id, p.shard, p.escrow, p.refund_to, (select e.balance from account as e where e.id = p.escrow) as remainder,
               g.ending, g.ender
        from (select distinct on (u.id) u.id, u.ending, u.ender
              from unnest(packets, endings, enders) with ordinality as u(id, ending, ender, n)
              order by u.id, u.ending is null, u.n) as g
        join packet as p on p.id = g.id
        where p.closed_at is null and (g.ending is not null or p.expires_at <= latest_moment())
        order by p.id
    ), refunds as (
        insert into transfer (subject, debit, credit, amount, kind)
        select d.id, d.escrow, d.refund_to, d.remainder, 'refund' -- an unknown one is null, and refused
        from due as d
        where d.remainder is distinct from 0 and d.refund_to <> all (held)
    ), waiting as (
        insert into refund_due (packet, shard, refund_to)
        select d.id, d.shard, d.refund_to from due as d where d.remainder <> 0 and d.refund_to = any (held)
    )
    select coalesce(array_agg(d.id), '{}'), coalesce(array_agg(d.shard), '{}'), array_agg(d.remainder), array_agg(d.ending),
           array_agg(d.ender)
    into closed, closed_shards, remainders, endings, enders
    from due as d;
    -- After the payment, in a statement of its own: see packet_closes_whole.
    update packet set closed_at = now(), refund = d.remainder, ending = d.ending, ended_by = d.ender
    from unnest(closed, remainders, endings, enders) as d(id, remainder, ending, ender)
    where packet.id = d.id;
    early := array(select p.id from packet as p where p.id = any (packets) and p.closed_at is null);
    settled_at := now();
end
$$;

-- Pays the due refunds of one account, at most a thousand, and reports them in feeds and outbox. Takes the first account that is not
-- locked.
--
-- Returns the number paid; 0 when none is due or all accounts are locked.
--
-- Locks the account, then the packets' escrows, which no other transaction moves, then the feeds.
create or replace function pay_refunds(of_shards smallint[]) returns integer
    language plpgsql
    security definer -- only this function may remove a due refund
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_hashjoin = off
    set enable_mergejoin = off
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    payee   bigint;
    packets uuid[];
begin
    for payee in select distinct d.refund_to from refund_due as d where d.shard = any (of_shards) order by 1 loop
        continue when held_accounts(array[payee]) <> '{}';
        -- Under the lock, and in a statement of its own: another server may have paid them before.
        with due as (
            delete from refund_due as d
            where d.packet = any (array(select x.packet from refund_due as x where x.refund_to = payee order by x.packet limit 1000))
            returning d.packet
        ), paid as (
            insert into transfer (subject, debit, credit, amount, kind)
            select p.id, p.escrow, p.refund_to, p.refund, 'refund' from due as d join packet as p on p.id = d.packet order by p.id
            returning subject
        )
        select array_agg(subject order by subject) into packets from paid;
        continue when packets is null;

        insert into outbox (shard, type, subjects, events) values (-1, 'packet.refunded', packets, cardinality(packets));
        perform feed_append(array_agg(p.group_id order by p.id), array_agg('packet.refunded'::text), array_agg(p.id order by p.id),
                            array_agg(0))
        from packet as p where p.id = any (packets) and p.group_id not like 'rain:%'
        having count(*) > 0;
        return cardinality(packets);
    end loop;
    return 0;
end
$$;
revoke execute on function pay_refunds(smallint[]) from public;
grant execute on function pay_refunds(smallint[]) to ${app};

-- Sets units aside, and keeps items of units set aside. The statement that moves the cursor past the items calls it after the move, so both
-- happen or neither. HB003 when an item's unit is not, or no longer, set aside.
create or replace function set_aside(
    settled_at timestamptz,
    units uuid[], kinds text[], shards smallint[], sqlstates text[], reasons text[],
    item_units uuid[], verbs text[], items text[])
    returns void
    language plpgsql
as $$
begin
    insert into quarantine_unit (id, kind, shard, sqlstate, reason)
    select * from unnest(units, kinds, shards, sqlstates, reasons) as g(id, kind, shard, sqlstate, reason)
    order by g.id
    on conflict do nothing;
    insert into quarantine (unit, verb, item, at)
    select g.unit, g.verb, g.item, settled_at
    from unnest(item_units, verbs, items) with ordinality as g(unit, verb, item, n)
    order by g.n;
exception when foreign_key_violation then
    raise exception 'what is kept is not set aside' using errcode = 'HB003';
end
$$;

-- Ends a trial settlement: undoes the whole statement.
create or replace function undo(settled_at timestamptz) returns void
    language plpgsql
as $$
begin
    raise exception 'it can be settled' using errcode = 'HB004';
end
$$;

-- Assets: what is counted here, declared before anything of it is held. A mistyped code would be a money of its own.

create table asset (
    code        text        primary key check (code ~ '^[A-Z][A-Z0-9_-]{0,15}$'),
    scale       smallint    not null check (scale between 0 and 9), -- digits behind the point: 2 for CNY, whose minor unit is the fen
    symbol      text        not null check (char_length(symbol) between 1 and 8),
    senders     text        not null default 'everybody' check (senders in ('everybody', 'service')),
    packet_cap  bigint      check (packet_cap > 0), -- of one packet's amount, minor units; null for none, as below
    share_cap   bigint      check (share_cap > 0), -- of one share
    day_cap     bigint      check (day_cap > 0), -- of all that one sender puts into packets on a day in UTC
    declared_at timestamptz not null default now(),
    capped      boolean     not null
        generated always as (packet_cap is not null or share_cap is not null or day_cap is not null) stored
);
create index asset_capped on asset (code) where capped;

-- What a database holds already is declared by that.
insert into asset (code, scale, symbol)
select a.asset, case a.asset when 'CNY' then 2 else 0 end, case a.asset when 'CNY' then '¥' else left(a.asset, 8) end
from (select distinct asset from account) as a;

create trigger asset_is_kept
    before delete or truncate on asset
    for each statement execute function refuse_change();

-- Declares an asset, or changes what may change of it: its symbol, its caps and who sends it. One at a time.
--
-- 'declared'  it is new
-- 'known'     it was declared; it is now as given here
-- 'scale'     it has another scale: what is counted would be worth something else
-- 'day'       it has a cap a day, which may be changed and not removed: what is sent meanwhile would not be counted
-- 'full'      there are 1,000 assets
create function declare_asset(
    of_code text, of_scale smallint, of_symbol text, of_senders text,
    of_packet_cap bigint, of_share_cap bigint, of_day_cap bigint)
    returns text
    language plpgsql
as $$
declare
    known asset;
begin
    perform pg_advisory_xact_lock(hashtextextended('declare_asset', 0));
    select * into known from asset where code = of_code for no key update;
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

-- Every account's asset is declared, and so is every packet's, campaign's and draw's, which have accounts. Once a statement: a foreign
-- key would look and lock for each wallet that a claim opens. An asset stays once it is there.
create function asset_is_declared() returns trigger
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

create trigger asset_is_declared
    after insert on account
    referencing new table as new_accounts
    for each statement execute function asset_is_declared();

-- The first UUIDv7 that a clock makes at a moment: ids from then on are not below it.
create function first_uuid(moment timestamptz) returns uuid
    language sql
    immutable
return (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- What a wallet has put into packets on the latest day on which it sent, of an asset with a cap a day.
create table sent_on_day (
    wallet bigint primary key,
    day    date   not null, -- in UTC
    amount bigint not null check (amount > 0)
) with (fillfactor = 50);

-- Holds sends to the caps of their assets, and counts those that are done. The wallets are locked, and each is here once: so what is
-- counted here is not counted by another at the same time. A pool is held to the caps of a packet and a share; its campaign has no day.
--
-- Takes the verdicts so far and judges those that are 'done':
-- 'large'  the packet is above the asset's cap
-- 'rich'   a share might be
-- 'limit'  with this packet the sender would have sent more than a day allows
create function judge_caps(
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
    earlier bigint[]; -- what the wallet sent today before; null where no cap a day holds
begin
    select array_agg(case when g.verdict <> 'done' or c.code is null or c.day_cap is null or g.campaign is not null then null
                          else coalesce(
                              -- A cap is never removed, so who last sent on an earlier day has sent nothing today.
                              (select case when s.day = today then s.amount else 0 end
                               from sent_on_day as s where s.wallet = g.wallet and s.day <= today),
                              -- The first since there is a cap. A server's clock made the id: so a day more is looked at.
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
        day = greatest(sent_on_day.day, excluded.day); -- a transaction of before midnight may come late
    return judged;
end
$$;

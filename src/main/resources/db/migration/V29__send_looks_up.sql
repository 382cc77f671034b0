-- The checks of before, as look-ups. For "not exists … or not exists …" Postgres 18 may put a whole table into a hash, even with sequential
-- scans off. A plan that was made while there were few accounts did so, and each send then read all of them.
create or replace function packet_adds_up() returns trigger
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    wrong record;
begin
    -- Once a statement, where foreign keys would look and lock for each row. An account's owner and kind are unique for an asset and
    -- never change, so no two packets share one.
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
                  or bool_or(cardinality(b.amounts) <> least(1000, n.count - b.block * 1000))
                  or sum(s.sum) <> n.amount
                  or min(s.least) < n.min or max(s.most) > n.max
                  or (array_agg(b.block * 1000 + array_position(b.amounts, s.most) - 1 order by s.most desc, b.block))[1]
                     <> n.luckiest
           from packet_amounts as b
           cross join lateral (select sum(a) as sum, min(a) as least, max(a) as most from unnest(b.amounts) as a) as s
           where b.packet = n.id) is not false
    limit 1;
    if found then
        raise exception 'the amounts of packet % do not add up to %', wrong.id, wrong.amount
            using errcode = 'check_violation', constraint = 'packet_adds_up';
    end if;
    return null;
end
$$;

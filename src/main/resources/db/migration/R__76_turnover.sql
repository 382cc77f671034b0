-- The counts of transfers, for metrics.

-- Counts the next transfers, up to `most` ids. One session counts at a time; the others return at once. A transaction writes before it
-- takes a transfer's id. So every transaction with an id up to `highest` is older than this one. Call it in a transaction of its own.
-- Returns true when more transfers are left.
create or replace function count_turnover(most bigint) returns boolean
    language plpgsql
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
as $$
declare
    highest constant bigint := coalesce(transfers_begun(), 0); -- before this transaction writes
    seen turnover_place;
    up_to bigint;
begin
    select * into seen from turnover_place for update skip locked;
    if not found then
        return false;
    end if;
    -- Ids of transactions begin anew in a database restored from a dump: then an old one would be waited for long.
    if seen.counted >= seen.begun or seen.waits_for > pg_snapshot_xmax(pg_current_snapshot()) then
        perform summarize_transfers();
        update turnover_place set begun = greatest(begun, highest), waits_for = pg_current_xact_id();
        return false;
    end if;
    if pg_snapshot_xmin(pg_current_snapshot()) < seen.waits_for then
        return false;
    end if;
    up_to := least(seen.counted + most, seen.begun);
    insert into turnover as known (kind, asset, transfers, amount)
    select t.kind, a.asset, count(*), sum(t.amount)
    from transfer as t join account as a on a.id = t.debit
    where t.id > seen.counted and t.id <= up_to
    group by t.kind, a.asset
    on conflict (kind, asset) do update
        set transfers = known.transfers + excluded.transfers, amount = known.amount + excluded.amount;
    update turnover_place set counted = up_to;
    return true;
end
$$;
revoke execute on function count_turnover(bigint) from public;
grant execute on function count_turnover(bigint) to ${app};

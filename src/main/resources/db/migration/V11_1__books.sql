-- Reading the books: for finance, support and auditors.

-- Transfers are written in the order of time, nearly: so a range of times is a range of pages. To keep this costs a claim nothing.
create index transfer_at on transfer using brin (at) with (pages_per_range = 32, autosummarize = on);

-- Transfers from a moment on and before another, the earliest first, after the one that is named by its time and id.
create function transfers_between(since timestamptz, until timestamptz, after_id bigint, most integer) returns setof transfer
    language plpgsql
    stable
    set enable_seqscan = off
as $$
begin
    return query
        select * from transfer as t
        where t.at >= since and t.at < until and (t.at > since or t.id > after_id)
        order by t.at, t.id limit most;
end
$$;

-- What was moved from a moment on and before another, by asset and kind.
create function transfer_totals(since timestamptz, until timestamptz)
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

-- Whether a time has so many transfers; reads no more than that, and what stands beside them.
create function transfers_are_many(since timestamptz, until timestamptz, many integer) returns boolean
    language plpgsql
    stable
    set enable_seqscan = off
as $$
begin
    return (select count(*) >= many from (select from transfer as t where t.at >= since and t.at < until limit many) as found);
end
$$;

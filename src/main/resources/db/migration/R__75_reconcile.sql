-- Reconciliation: functions for runs from the checkpoint.

-- The highest id given to a transfer so far. Null when the sequence caches ids: then a lower id may come later.
create or replace function transfers_begun() returns bigint
    language sql
    stable
    security definer -- for roles that may not read the sequence
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
return (select coalesce(pg_sequence_last_value(s.seqrelid), 0) from pg_sequence as s
        where s.seqrelid = pg_get_serial_sequence('transfer', 'id')::regclass and s.seqcache = 1);
revoke execute on function transfers_begun() from public;
grant execute on function transfers_begun() to ${app};

-- The current writing transactions: all with an id that have not ended, prepared ones included.
create or replace function transfers_under_way() returns text[]
    language sql
    stable
return array(select distinct l.virtualtransaction || ' ' || coalesce(l.pid, 0) from pg_locks as l
             where l.locktype = 'relation' and l.mode = 'RowExclusiveLock'
               and l.database = (select d.oid from pg_database as d where d.datname = current_database())
               and l.relation in (select 'transfer'::regclass union all select p.relid from pg_partition_tree('transfer') as p));

-- The state of a draw, to see changes: its plays, its plan and its end. A plan may take what an end of a period returned, so the last
-- period counts, too.
create or replace function checkpoint_state_of_draw(of_draw uuid) returns text
    language sql
    stable
return (select format('%s %s %s %s', coalesce(d.closed_at::text, 'open'), sum(z.issued), sum(z.planned),
                      (select max(p.n) from period as p where p.draw = d.id))
        from draw as d join prize as z on z.draw = d.id where d.id = of_draw group by d.id);

create or replace function checkpoint_state_of_campaign(of_campaign uuid) returns text
    language sql
    stable
return (select format('%s %s %s %s %s', coalesce(c.closed_at::text, 'open'), c.budget, c.returned, r.caught, r.ended)
        from campaign as c left join rain as r on r.id = c.id where c.id = of_campaign);

-- Summarizes the newest rows in the indexes on transfers' ids and times. A search by either reads all rows that are not summarized. In every
-- month's part: a draw or campaign that was open for long writes to the part of its own id.
create or replace function summarize_transfers() returns void
    language plpgsql
    security definer -- for roles that do not own the tables
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
    set lock_timeout = '50ms'
as $$
declare
    part regclass;
begin
    for part in
        select i.inhrelid from pg_inherits as i where i.inhparent in ('transfer_id'::regclass, 'transfer_at'::regclass)
    loop
        begin
            perform brin_summarize_new_values(part);
        exception when lock_not_available then
            null; -- a vacuum does it, too
        end;
    end loop;
end
$$;
revoke execute on function summarize_transfers() from public;
grant execute on function summarize_transfers() to ${app};

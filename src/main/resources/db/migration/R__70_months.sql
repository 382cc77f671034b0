-- Months: making the parts of transfer, packet_amounts and play.

-- The tables, with the id that defines a row's month.
create or replace function month_tables() returns table (parent text, key text)
    language sql
    immutable
begin atomic
    values ('transfer', 'subject'), ('packet_amounts', 'packet'), ('play', 'draw');
end;

-- The name of a table's part for a month.
create or replace function month_part(parent text, month date) returns text
    language sql
    stable
return parent || to_char(month, '_YYYY_MM');

-- The first moment of a month.
create or replace function month_start(month timestamp) returns timestamptz
    language sql
    immutable
return month at time zone 'UTC';

-- Refuses statements on a part itself, which would bypass the table's triggers. A statement on the table does not fire this trigger.
create or replace function guard_part(part text) returns void
    language plpgsql
as $$
begin
    execute format('create trigger rows_come_by_their_table before insert or update or delete or truncate on %I'
                   ' for each statement execute function refuse_change()', part);
end
$$;

-- Names a part's indexes after the table's, since errors name them.
create or replace function name_indexes(parent text, part text) returns void
    language plpgsql
as $$
declare
    made record;
begin
    for made in select i.indexrelid::regclass as index, p.inhparent::regclass || replace(part, parent, '') as name
                from pg_index as i join pg_inherits as p on p.inhrelid = i.indexrelid
                where i.indrelid = to_regclass(part)
    loop
        execute format('alter index %s rename to %I', made.index, made.name);
    end loop;
end
$$;

-- Like make_month(of_parent, month), for the owner of the tables. Moves rows of the month from _other (ids of a clock that was ahead) into
-- the part, at most `most`. Readers and writers of _other wait meanwhile. Fails with check_violation (23514) when there are more rows.
create or replace function make_month(of_parent text, month date, most bigint) returns void
    language plpgsql
    set search_path = ${flyway:defaultSchema}, pg_temp
    set lock_timeout = '200ms'
as $$
declare
    part  constant text := month_part(of_parent, month);
    other constant text := of_parent || '_other';
    low   constant uuid := first_uuid(month_start(month));
    high  constant uuid := first_uuid(month_start(month + interval '1 month'));
    id_key text;
    held   bigint;
begin
    select t.key into id_key from month_tables() as t where t.parent = of_parent;
    if id_key is null
       or month <> date_trunc('month', month) or month not between date '2020-01-01' and now() + interval '3 years' then
        raise exception 'no part of %: %', of_parent, month using errcode = 'invalid_parameter_value';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('make_month', 0)); -- one server at a time
    if to_regclass(part) is not null then
        return;
    end if;
    -- Analyze only after 10,000 rows: without statistics, Postgres reads a part by its indexes, but a plan made for ten rows would read all
    -- of a growing part. Vacuum once in ten million rows: rows are only added, so it has little to do. It also blocks the summary of the
    -- newest rows, which each page of reconcile would then read.
    execute format('create table %I (like %I including all excluding identity) with (autovacuum_analyze_threshold = 10000,'
                   ' autovacuum_vacuum_insert_threshold = 10000000, autovacuum_vacuum_insert_scale_factor = 0)', part, of_parent);

    execute format('select count(*) from (select from %I where %I >= $1 and %I < $2 limit $3) as o', other, id_key, id_key)
    into held using low, high, most + 1;
    if held > most then
        raise exception 'more than % rows of % stand in %', most, month, other using errcode = 'check_violation';
    end if;
    if held > 0 then
        -- The attach needs this lock, too. Taken first, it prevents new rows during the move.
        execute format('lock table %I in access exclusive mode', other);
        execute format('insert into %I select * from %I where %I >= $1 and %I < $2', part, other, id_key, id_key) using low, high;
        -- No row is lost: the part and _other hold the same rows as before.
        execute format('alter table %I disable trigger rows_come_by_their_table', other);
        execute format('delete from %I where %I >= $1 and %I < $2', other, id_key, id_key) using low, high;
        execute format('alter table %I enable trigger rows_come_by_their_table', other);
    end if;
    perform guard_part(part);
    -- The attach locks the table only against changes of its form. Only users of _other wait, which is nearly empty.
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', of_parent, part, low, high);
    perform name_indexes(of_parent, part);
end
$$;

-- Makes a table's part for a month; idempotent. No reader or writer waits longer than the lock timeout. Fails with lock_not_available
-- (55P03) at the timeout: try again. Fails with check_violation (23514) when _other has more than a thousand rows of the month.
create or replace function make_month(of_parent text, month date) returns void
    language plpgsql
    security definer -- the server's role may not make tables
    set search_path = ${flyway:defaultSchema}, pg_temp
    set lock_timeout = '200ms'
as $$
begin
    perform make_month(of_parent, month, 1000);
end
$$;
revoke execute on function make_month(text, date) from public;
grant execute on function make_month(text, date) to ${app};

-- The missing parts that a server makes ahead of time: for a moment's month, the month before (a server's clock may be behind) and the next
-- two. `held`: _other has rows of the month, so the part cannot be made.
create or replace function missing_months(moment timestamptz) returns table (parent text, month date, held boolean)
    language plpgsql
    stable
as $$
declare
    this constant timestamp := date_trunc('month', moment at time zone 'UTC');
    id_key text;
begin
    for parent, id_key, month in
        select t.parent, t.key, m.month::date
        from month_tables() as t
        cross join generate_series(this - interval '1 month', this + interval '2 months', interval '1 month') as m(month)
        where to_regclass(month_part(t.parent, m.month::date)) is null
        order by m.month, t.parent
    loop
        execute format('select exists (select from %I where %I >= $1 and %I < $2)', parent || '_other', id_key, id_key)
        into held using first_uuid(month_start(month)), first_uuid(month_start(month + interval '1 month'));
        return next;
    end loop;
end
$$;

-- Analyzes the first table after the given name that has doubled since its last analysis. Returns its name, or null for none. Postgres does
-- this itself only for their parts, but the plans of joins need it for the whole table. One table a transaction, from Postgres 18 on without
-- its parts: the outbox' head waits for the transaction.
create or replace function analyze_next_month_table(after text) returns text
    language plpgsql
    security definer
    set search_path = ${flyway:defaultSchema}, pg_temp
    set lock_timeout = '200ms'
as $$
declare
    doubled constant text := (
        select min(t.parent) from month_tables() as t join pg_class as c on c.oid = to_regclass(t.parent)
        where t.parent > after
          and (select sum(greatest(p.reltuples, 0)) from pg_inherits as i join pg_class as p on p.oid = i.inhrelid
               where i.inhparent = c.oid) > 2 * greatest(c.reltuples, 5000));
    only_it constant text := case when current_setting('server_version_num')::integer >= 180000 then 'only' end;
begin
    if doubled is not null then
        execute format('analyze %s %I', only_it, doubled);
    end if;
    return doubled;
end
$$;
revoke execute on function analyze_next_month_table(text) from public;
grant execute on function analyze_next_month_table(text) to ${app};

-- The number of rows in _other of all tables; counted up to 10,000 each.
create or replace function rows_of_no_month() returns bigint
    language plpgsql
    stable
as $$
declare
    parent text;
    counted bigint;
    total  bigint := 0;
begin
    for parent in select t.parent from month_tables() as t loop
        execute format('select count(*) from (select from %I limit 10000) as o', parent || '_other') into counted;
        total := total + counted;
    end loop;
    return total;
end
$$;

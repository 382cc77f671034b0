-- Months: how transfer, packet_amounts and play get a part for each month.

-- The tables, and by which id their rows belong to a month.
create or replace function month_tables() returns table (parent text, key text)
    language sql
    immutable
begin atomic
    values ('transfer', 'subject'), ('packet_amounts', 'packet'), ('play', 'draw');
end;

-- The name of a table's part of a month.
create or replace function month_part(parent text, month date) returns text
    language sql
    stable
return parent || to_char(month, '_YYYY_MM');

-- The first moment of a month.
create or replace function month_start(month timestamp) returns timestamptz
    language sql
    immutable
return month at time zone 'UTC';

-- Refuses what passes a table by and names one of its parts: its triggers would not hear of it. A statement on the table itself does
-- not fire these.
create or replace function guard_part(part text) returns void
    language plpgsql
as $$
begin
    execute format('create trigger rows_come_by_their_table before insert or update or delete or truncate on %I'
                   ' for each statement execute function refuse_change()', part);
end
$$;

-- Names the indexes of a part after the table's: an error tells their names.
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

-- As make_month(of_parent, month), for the owner of the tables: rows of the month that stand in _other (ids made by a clock that was ahead)
-- come into the part, `most` of them at the most; whoever reads or writes rows of no month waits meanwhile. Fails with check_violation (23514)
-- when there are more.
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
    -- Until it holds some rows nothing is known of it, and then Postgres reads it by its indexes. A plan made for ten rows would read all of
    -- it while it fills. Rows are only added, so a vacuum finds little to do. While it works the newest rows cannot be summarized, and each
    -- page of the books' check reads them all: so it comes once in ten million rows.
    execute format('create table %I (like %I including all excluding identity) with (autovacuum_analyze_threshold = 10000,'
                   ' autovacuum_vacuum_insert_threshold = 10000000, autovacuum_vacuum_insert_scale_factor = 0)', part, of_parent);

    execute format('select count(*) from (select from %I where %I >= $1 and %I < $2 limit $3) as o', other, id_key, id_key)
    into held using low, high, most + 1;
    if held > most then
        raise exception 'more than % rows of % stand in %', most, month, other using errcode = 'check_violation';
    end if;
    if held > 0 then
        -- To attach needs this lock, too: taken before anything moves, nobody adds a row meanwhile.
        execute format('lock table %I in access exclusive mode', other);
        execute format('insert into %I select * from %I where %I >= $1 and %I < $2', part, other, id_key, id_key) using low, high;
        -- Nothing is lost: the same rows are in the table before and after.
        execute format('alter table %I disable trigger rows_come_by_their_table', other);
        execute format('delete from %I where %I >= $1 and %I < $2', other, id_key, id_key) using low, high;
        execute format('alter table %I enable trigger rows_come_by_their_table', other);
    end if;
    perform guard_part(part);
    -- To attach it locks the table but against other changes of its form; only who uses _other waits, and that is nearly empty.
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', of_parent, part, low, high);
    perform name_indexes(of_parent, part);
end
$$;

-- Makes a table's part of a month; again is once. Nobody who writes or reads waits longer than this may wait for a lock; it fails with
-- lock_not_available (55P03) then, and is to be tried again. Fails with check_violation (23514) when more than a thousand rows of the
-- month stand in _other.
create or replace function make_month(of_parent text, month date) returns void
    language plpgsql
    security definer -- the server's own role makes no tables
    set search_path = ${flyway:defaultSchema}, pg_temp
    set lock_timeout = '200ms'
as $$
begin
    perform make_month(of_parent, month, 1000);
end
$$;
revoke execute on function make_month(text, date) from public;
grant execute on function make_month(text, date) to ${app};

-- The parts that a server makes ahead, and that are missing: of the month of a moment, the one before it (of a server whose clock is
-- behind) and the next two. And whether rows of the month stand in _other, so that its part cannot be made.
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

-- Looks at the rows of tables anew that hold twice as many as when they were looked at last. Postgres does that by itself for their parts
-- only, and the plans of joins need it for the whole.
create or replace function analyze_month_tables() returns void
    language plpgsql
    security definer
    set search_path = ${flyway:defaultSchema}, pg_temp
    set lock_timeout = '200ms'
as $$
declare
    parent text;
begin
    for parent in
        select t.parent from month_tables() as t join pg_class as c on c.oid = to_regclass(t.parent)
        where (select sum(greatest(p.reltuples, 0)) from pg_inherits as i join pg_class as p on p.oid = i.inhrelid
               where i.inhparent = c.oid) > 2 * greatest(c.reltuples, 5000)
    loop
        execute format('analyze %I', parent);
    end loop;
end
$$;
revoke execute on function analyze_month_tables() from public;
grant execute on function analyze_month_tables() to ${app};

-- How many rows stand in _other, over all tables; counted to 10,000 each.
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

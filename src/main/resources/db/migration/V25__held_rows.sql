-- Rows of a month that stand in _other: ids made by a clock that was ahead, before the month had parts. They go into the month's part when
-- it is made, and while they stand there the month is not archived: it would be sealed, and could not be put away.

-- As before, but rows of the month that stand in _other come into the part, `most` of them at the most: whoever reads or writes rows of no
-- month waits meanwhile. Fails with check_violation (23514) when there are more; the owner of the tables may allow more in a quiet hour.
create function make_month(of_parent text, month date, most bigint) returns void
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
    if is_archived(low) then
        raise exception 'the month % is archived', month using errcode = 'invalid_parameter_value';
    end if;
    -- Until it holds some rows nothing is known of it, and then Postgres reads it by its indexes. A plan made for ten rows would read all of
    -- it while it fills.
    execute format('create table %I (like %I including all excluding identity) with (autovacuum_analyze_threshold = 10000)',
                   part, of_parent);

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

-- What stands in the way of archiving a month, see V19; and rows of the month that are in none of its parts.
alter function archive_hindrances(date) rename to archive_hindrances_in_parts;

create function archive_hindrances(of_month date) returns setof text
    language plpgsql
as $$
declare
    t     record;
    other boolean;
begin
    return query select h from archive_hindrances_in_parts(of_month) as h;
    for t in select m.parent, m.key from month_tables() as m where to_regclass(month_part(m.parent, of_month)) is null loop
        execute format('select exists (select from %I where %I >= $1 and %I < $2)', t.parent || '_other', t.key, t.key)
        into other using first_uuid(month_start(of_month)), first_uuid(month_start(of_month + interval '1 month'));
        if other then
            return next format('rows of the month stand in %s_other: move them, in a quiet hour, as the owner of the tables:'
                               ' select make_month(''%s'', ''%s'', 1000000)', t.parent, t.parent, of_month);
        end if;
    end loop;
end
$$;

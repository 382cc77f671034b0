-- Tables whose rows only become more, in parts of a month each: what is written and read today stays small, and an old month can be
-- put away as a whole. A row belongs to the month (UTC) in which its UUIDv7 was made: a packet's claims stand together, whenever they
-- come. A row whose id is of no month that has a part stands in the table's part named _other: nothing is ever refused for that.

-- The tables, and by which id their rows belong to a month.
create function month_tables() returns table (parent text, key text)
    language sql
    immutable
begin atomic
    values ('transfer', 'subject'), ('packet_amounts', 'packet'), ('play', 'draw');
end;

-- Months that were put away into files, see V19. Sealed comes first: its parts take no rows any more, and all that they hold is still here.
create table archive_month (
    month       date        primary key,
    first_id    uuid        not null, -- the ids of the month are from here on
    end_id      uuid        not null, -- and below this one
    sealed_at   timestamptz not null default now(),
    archived_at timestamptz, -- when its parts were dropped; null until then, as what follows
    manifest    text        check (manifest ~ '^[0-9a-f]{64}$'), -- SHA-256 of its manifest
    last_at     timestamptz, -- of the latest of its transfers; null when it had none
    check (month = date_trunc('month', month) and first_id < end_id),
    check ((archived_at is null) = (manifest is null))
);

-- Whether the rows of a packet, a draw, a campaign or a command were put away: everybody who has to know asks this.
create function is_archived(subject uuid) returns boolean
    language sql
    stable
return exists (select from archive_month as m where m.archived_at is not null and subject >= m.first_id and subject < m.end_id);

-- The name of a table's part of a month.
create function month_part(parent text, month date) returns text
    language sql
    stable
return parent || to_char(month, '_YYYY_MM');

-- The first moment of a month.
create function month_start(month timestamp) returns timestamptz
    language sql
    immutable
return month at time zone 'UTC';

-- Refuses what passes a table by and names one of its parts: its triggers would not hear of it. A statement on the table itself does
-- not fire these.
create function guard_part(part text) returns void
    language plpgsql
as $$
begin
    execute format('create trigger rows_come_by_their_table before insert or update or delete or truncate on %I'
                   ' for each statement execute function refuse_change()', part);
end
$$;

-- Makes a table's part of a month; again is once. Nobody who writes or reads waits longer than this may wait for a lock; it fails with
-- lock_not_available (55P03) then, and is to be tried again. Fails with check_violation (23514) when rows of the month stand in _other.
create function make_month(of_parent text, month date) returns void
    language plpgsql
    security definer -- the server's own role makes no tables
    set search_path = ${flyway:defaultSchema}, pg_temp
    set lock_timeout = '200ms'
as $$
declare
    part constant text := month_part(of_parent, month);
begin
    if not exists (select from month_tables() as t where t.parent = of_parent)
       or month <> date_trunc('month', month) or month not between date '2020-01-01' and now() + interval '3 years' then
        raise exception 'no part of %: %', of_parent, month using errcode = 'invalid_parameter_value';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('make_month', 0)); -- one server at a time
    if to_regclass(part) is not null then
        return;
    end if;
    if is_archived(first_uuid(month_start(month))) then
        raise exception 'the month % is archived', month using errcode = 'invalid_parameter_value';
    end if;
    -- To attach it locks the table but against other changes of its form; only who uses _other waits, and that is nearly empty.
    -- Until it holds some rows nothing is known of it, and then Postgres reads it by its indexes. A plan made for ten rows would read all of
    -- it while it fills.
    execute format('create table %I (like %I including all excluding identity) with (autovacuum_analyze_threshold = 10000)',
                   part, of_parent);
    perform guard_part(part);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', of_parent, part,
                   first_uuid(month_start(month)), first_uuid(month_start(month + interval '1 month')));
    perform name_indexes(of_parent, part);
end
$$;

-- Names the indexes of a part after the table's: an error tells their names.
create function name_indexes(parent text, part text) returns void
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

-- The parts that a server makes ahead, and that are missing: of the month of a moment, the one before it (of a server whose clock is
-- behind) and the next two. And whether rows of the month stand in _other, so that its part cannot be made.
create function missing_months(moment timestamptz) returns table (parent text, month date, held boolean)
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
          and not is_archived(first_uuid(month_start(m.month)))
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
create function analyze_month_tables() returns void
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

-- How many rows stand in _other, over all tables; counted to 10,000 each.
create function rows_of_no_month() returns bigint
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

-- The tables as they are, moved aside; and empty ones of the same form.
alter table budget_raise drop constraint budget_raise_campaign_transfer_fkey;
alter table reversal drop constraint reversal_subject_transfer_fkey;
alter table fulfilment drop constraint fulfilment_draw_seq_fkey;
drop function transfers_between(timestamptz, timestamptz, bigint, integer); -- it returns rows of the table
alter sequence transfer_id_seq rename to transfer_before_id_seq;

-- What reads them and was bound to them by name when it was made: their text, to be bound anew.
create table bound_anew as
select p.oid, pg_get_functiondef(p.oid) as definition
from pg_proc as p
where p.oid in (select d.objid from pg_depend as d
                where d.classid = 'pg_proc'::regclass and d.refclassid = 'pg_class'::regclass
                  and d.refobjid in ('transfer'::regclass, 'packet_amounts'::regclass, 'play'::regclass))
union all
select 'claim'::regclass, 'create or replace view claim as ' || pg_get_viewdef('claim'::regclass);

do $$
declare
    t record;
    i record;
begin
    for t in select * from month_tables() loop
        execute format('alter table %I rename to %I', t.parent, t.parent || '_before');
        for i in select indexrelid::regclass as index, relname from pg_index join pg_class on pg_class.oid = indexrelid
                 where indrelid = to_regclass(t.parent || '_before')
        loop
            execute format('alter index %s rename to %I', i.index, i.relname || '_before');
        end loop;
        execute format('create table %I (like %I including all excluding indexes) partition by range (%I)',
                       t.parent, t.parent || '_before', t.key);
    end loop;
end
$$;

alter table transfer add primary key (subject, id);
create unique index transfer_slot on transfer (subject, slot) where slot is not null;
create unique index transfer_claim on transfer (credit, subject) where slot is not null;
create index transfer_in on transfer (credit, id)
    where kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal');
create index transfer_out on transfer (debit, id) where kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal');
create index transfer_at on transfer using brin (at) with (pages_per_range = 32, autosummarize = on);

alter table packet_amounts add primary key (packet, block);

alter table play add primary key (draw, seq);
-- A request's id is a digest of its draw, too. It comes first, so that a request is found without its draw.
alter table play add constraint play_once unique (request, part, draw); -- invariant I10: a request is settled once
alter table play add unique (draw, prize, nth);
create unique index play_takes_release on play (draw, period, prize, release) where period is not null;
create index play_user on play (user_id, draw, seq);

do $$
declare
    t record;
    m date;
    r record;
begin
    for t in select * from month_tables() loop
        execute format('create table %I partition of %I default', t.parent || '_other', t.parent);
        perform guard_part(t.parent || '_other');
        perform name_indexes(t.parent, t.parent || '_other');
    end loop;
    perform make_month(k.parent, k.month) from missing_months(now()) as k;
    for t in select * from month_tables() loop
        -- The months of the rows that there are, as far as they can be known.
        for m in execute format(
            'select distinct date_trunc(''month'', to_timestamp(k.millis / 1000.0) at time zone ''UTC'')::date'
            ' from %I as b cross join lateral'
            ' (select (''x'' || substr(replace(b.%I::text, ''-'', ''''), 1, 12))::bit(48)::bigint as millis) as k'
            ' where substr(b.%I::text, 15, 1) = ''7'''
            ' and k.millis between extract(epoch from timestamptz ''2020-01-01 00:00 UTC'') * 1000'
            ' and extract(epoch from now()) * 1000',
            t.parent || '_before', t.key, t.key)
        loop
            perform make_month(t.parent, m);
        end loop;
        execute format('insert into %I overriding system value select * from %I', t.parent, t.parent || '_before');
    end loop;
    perform setval('transfer_id_seq', last_value, is_called) from transfer_before_id_seq;
    for r in select definition from bound_anew order by oid loop
        execute r.definition;
    end loop;
end
$$;

drop table bound_anew;
drop table transfer_before, packet_amounts_before, play_before;

-- What pointed to the tables by a foreign key points to a row that is there when it is written. Such a row is never changed or deleted, so
-- this is all that a key would do; but a key would hold the month of the row for ever, and what points to it is to outlast it.
create function points_to_a_row() returns trigger
    language plpgsql
as $$
declare
    there boolean;
begin
    if tg_table_name = 'budget_raise' then
        there := exists (select from transfer as t where t.subject = new.campaign and t.id = new.transfer);
    elsif tg_table_name = 'reversal' then
        there := exists (select from transfer as t where t.subject = new.subject and t.id = new.transfer);
    else
        there := exists (select from play as p where p.draw = new.draw and p.seq = new.seq);
    end if;
    if not there then
        raise exception 'a row of % points to nothing: %', tg_table_name, tg_name
            using errcode = 'foreign_key_violation', constraint = tg_name;
    end if;
    return null;
end
$$;

create trigger budget_raise_has_transfer after insert on budget_raise for each row execute function points_to_a_row();
create trigger reversal_has_transfer after insert on reversal for each row execute function points_to_a_row();
create trigger fulfilment_has_play after insert on fulfilment for each row execute function points_to_a_row();

create trigger transfer_moves_balances
    after insert on transfer
    referencing new table as inserted
    for each statement execute function transfer_moves_balances();
create trigger transfer_is_kept
    before update or delete or truncate on transfer
    for each statement execute function refuse_change();
create trigger transfer_to_outbox
    after insert on transfer
    referencing new table as inserted
    for each statement execute function transfer_to_outbox();

create trigger amounts_come_first
    after insert on packet_amounts
    referencing new table as new_blocks
    for each statement execute function amounts_come_first();
create trigger packet_amounts_are_kept
    before update or delete or truncate on packet_amounts
    for each statement execute function refuse_change();

create trigger plays_are_issued
    after insert on play
    referencing new table as inserted
    for each statement execute function plays_are_issued();
create trigger play_is_kept
    before update or delete or truncate on play
    for each statement execute function refuse_change();
create trigger play_to_outbox
    after insert on play
    referencing new table as inserted
    for each statement execute function play_to_outbox();

-- As R__grants has it, which need not run again. A part is written by its table, whose privileges count.
grant select on all tables in schema ${flyway:defaultSchema} to ${app};
grant insert on transfer, packet_amounts, play to ${app};
revoke update, delete, truncate on transfer, play from ${app};

-- As before.
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

-- What a month waits for before it is archived, and did not: a prize of a draw's fallback that people hand out, and the news of a reversal
-- of one of its transfers, which is told with what was reversed. And who waits for the end of an archiving: nobody for long.

-- As before, with both.
create or replace function archive_hindrances_in_parts(of_month date) returns setof text
    language plpgsql
as $$
declare
    begins  constant timestamptz := month_start(of_month);
    ends    constant timestamptz := month_start(of_month + interval '1 month');
    low     constant uuid := first_uuid(begins);
    high    constant uuid := first_uuid(ends);
    parents uuid[]; -- campaigns that are of another month than a pool of theirs: they are bound to this one, too
    latest  bigint;
begin
    if of_month <> date_trunc('month', of_month) then
        raise exception 'not the first day of a month: %', of_month using errcode = 'invalid_parameter_value';
    end if;
    -- A day more: servers make ids, and by their clocks.
    if ends + interval '1 day' > now() then
        return next format('the month is not over: it can be archived from %s UTC on',
                           to_char((ends + interval '1 day') at time zone 'UTC', 'YYYY-MM-DD HH24:MI'));
        return;
    end if;
    return query
        select distinct format('an earlier month stands before it: archive %s first', to_char(part_month(c.relname), 'YYYY-MM'))
        from month_tables() as t join pg_inherits as i on i.inhparent = to_regclass(t.parent) join pg_class as c on c.oid = i.inhrelid
        where part_month(c.relname) < of_month;
    if not exists (select from month_parts(of_month)) then
        return next 'there are no parts of this month: nothing to archive';
        return;
    end if;

    parents := array(select distinct o.campaign from pool as o
                     where o.packet >= low and o.packet < high and not (o.campaign >= low and o.campaign < high));
    return query
        select format('%s %s: %s, the first is %s; %s', h.n, h.what, h.state, h.first, h.todo)
        from (
            select count(*) as n, 'packets' as what, 'open' as state, min(p.id::text) as first,
                   'wait for their end, or close them' as todo
            from packet as p where p.closed_at is null and p.id >= low and p.id < high
            union all
            select count(*), 'draws', 'open', min(d.id::text), 'wait for their end, or close them'
            from draw as d where d.closed_at is null and d.id >= low and d.id < high
            union all
            select count(*), 'campaigns and rains', 'open', min(c.id::text), 'wait for their end, or end them'
            from campaign as c left join rain as r on r.id = c.id
            where (c.id >= low and c.id < high or c.id = any (parents)) and (c.closed_at is null or not coalesce(r.ended, true))
            union all
            select count(*), 'packets and draws', 'quarantined', min(q.id::text), 'see `hongbao quarantine`'
            from quarantine_unit as q where q.id >= low and q.id < high
            union all
            select count(*), 'accounts of packets, draws and campaigns', 'not empty', min(o.id::text), 'see `hongbao reconcile`'
            from (select p.id from packet as p where p.id >= low and p.id < high
                  union all select d.id from draw as d where d.id >= low and d.id < high
                  union all select c.id from campaign as c where c.id >= low and c.id < high) as o
            join account as e on e.owner = o.id::text and e.kind in ('escrow', 'hold') and e.balance <> 0
            union all
            select count(*), 'costs of plays', 'held', min(t.id::text), 'see `hongbao reconcile`'
            from play_request as t where t.status = 'held' and t.draw >= low and t.draw < high
            union all
            select count(*), 'prizes that your people hand out', 'not done', min(f.draw || '/' || f.seq),
                   'say what was done about them, see Prizes on their way in the guide'
            from (select y.draw, y.seq,
                         (select x.state from fulfilment as x where x.draw = y.draw and x.seq = y.seq order by x.n desc limit 1) as state
                  from draw as d
                  join prize as z on z.draw = d.id and z.amount = 0
                       and case when z.n > jsonb_array_length(d.definition -> 'prizes') then d.definition -> 'fallback'
                                else d.definition -> 'prizes' -> (z.n - 1) end ->> 'class' is not null
                       and not exists (select from code as k where k.draw = z.draw and k.prize = z.n)
                  join play as y on y.draw = z.draw and y.prize = z.n
                  where d.id >= low and d.id < high) as f
            where f.state is distinct from 'done'
            union all
            select count(*), 'rows of the outbox', case when bool_or(o.n > w.delivered) then 'not delivered' else 'kept' end, min(o.n)::text,
                   'they go once webhooks have them and outbox.retention is over'
            from outbox as o cross join (select min(k.low) as delivered from webhook as k where k.disabled_at is null) as w
            where exists (select from unnest(o.subjects) as s where s >= low and s < high or s = any (parents))
               or o.type = 'transfer.reversal'
                  and exists (select from reversal as r where r.command = any (o.subjects) and r.subject >= low and r.subject < high)
            union all
            select count(*), 'idempotency keys', 'remembered', min(i.operation || ' ' || i.key), 'they go after idempotency.retention'
            from idempotency as i where i.subject >= low and i.subject < high
            union all
            select count(*), 'events of feeds', 'kept', min(g.subject::text), 'they go after feed.retention'
            from (select e.subject from group_event as e
                  union all select u.packet from unannounced as u
                  union all select f.draw from draw_feed as f) as g
            where g.subject >= low and g.subject < high
        ) as h
        where h.n > 0;

    select max(t.id) into latest from transfer as t where t.subject >= low and t.subject < high;
    if latest > (select c.transfer from checkpoint as c) or exists (select from checkpoint_due) then
        return next 'not all of its transfers are reconciled: run `hongbao reconcile --since-checkpoint` until it is clean';
    end if;
end
$$;

-- Ends the archiving of a sealed month, as before: but it counts and adds up first, which may take minutes, while its transaction has no id
-- that the outbox and the feeds would wait for; and it waits for the tables for a second. It fails with lock_not_available (55P03) when it had none, and is
-- to be tried again.
--
-- Takes the SHA-256 of the manifest, and of each table how many rows were written; fails with HB006 when there are others.
create or replace function finish_archive(of_month date, of_manifest text, tables text[], rows_written bigint[]) returns void
    language plpgsql
    set lock_timeout = '200ms'
as $$
declare
    m        archive_month;
    p        record;
    counted  bigint;
    accounts bigint[];
    sums     bigint[];
    latest   timestamptz;
    patience timestamptz;
begin
    select * into m from archive_month as x where x.month = of_month;
    if m.archived_at is not null then
        raise exception 'the month % is archived', of_month using errcode = 'HB006';
    end if;
    for p in select t.parent, t.key, w.written
             from month_tables() as t left join unnest(tables, rows_written) as w(parent, written) on w.parent = t.parent
    loop
        execute format('select count(*) from %I where %I >= $1 and %I < $2', p.parent, p.key, p.key)
        into counted using m.first_id, m.end_id;
        if counted is distinct from coalesce(p.written, 0) then
            raise exception '% has % rows of %, and % were written', p.parent, counted, of_month, p.written using errcode = 'HB006';
        end if;
    end loop;

    select array_agg(b.account), array_agg(b.sum) into accounts, sums
    from (select s.account, sum(s.amount)::bigint as sum
          from (select t.credit as account, t.amount from transfer as t where t.subject >= m.first_id and t.subject < m.end_id
                union all
                select t.debit, -t.amount from transfer as t where t.subject >= m.first_id and t.subject < m.end_id) as s
          group by s.account having sum(s.amount) <> 0) as b; -- escrows and holds are empty
    select max(t.at) into latest from transfer as t where t.subject >= m.first_id and t.subject < m.end_id;

    -- From here on this transaction has an id, and as long as it has, the news of nobody who writes is told.
    update archive_month as x set archived_at = now(), manifest = of_manifest, last_at = latest
    where x.month = of_month and x.archived_at is null;
    if not found then
        raise exception 'the month % is archived', of_month using errcode = 'HB006';
    end if;
    insert into archive_opening as o (account, balance)
    select u.account, u.sum from unnest(accounts, sums) as u(account, sum)
    on conflict (account) do update set balance = o.balance + excluded.balance;
    -- And from here on nobody else reads or writes the tables, for some milliseconds.
    patience := clock_timestamp() + interval '1 second';
    loop
        begin
            -- In the order in which a send and a play lock them.
            for p in select t.parent, month_part(t.parent, of_month) as part from month_tables() as t order by t.parent loop
                execute format('lock table only %I, only %I in access exclusive mode', p.parent, p.parent || '_other');
                if to_regclass(p.part) is not null then
                    execute format('lock table %I in access exclusive mode', p.part);
                end if;
            end loop;
            exit;
        exception when lock_not_available then -- and what was locked is free
            if clock_timestamp() > patience then
                raise;
            end if;
            perform pg_sleep(0.3);
        end;
    end loop;
    for p in select * from month_parts(of_month) loop
        execute format('drop table %I', p.part);
    end loop;
    for p in select * from month_tables() loop
        execute format('alter table %I add constraint %I check (%I < %L or %I >= %L)', p.parent || '_other',
                       month_part(p.parent, of_month) || '_is_archived', p.key, m.first_id, p.key, m.end_id);
    end loop;
end
$$;

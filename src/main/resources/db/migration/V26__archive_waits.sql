-- What a month waits for before it is archived, and did not: a prize of a draw's fallback that people hand out, and the news of a reversal
-- of one of its transfers, which is told with what was reversed.

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

package dev.hongbao.domain.reconcile;

import java.util.List;

/** The rules on what the host application is told, for as long as it is kept. */
final class OutboxChecks {
    static final List<Check> ALL = List.of(
            new Check("I16", "what the outbox tells of claims is in the books", """
                    -- A packet's slots have no gaps, which another check holds: so the books are read once, not for each row.
                    with told as (
                        select o.n, o.events, s.subject, s.first, s.last
                        from outbox as o
                        cross join lateral unnest(o.subjects, o.firsts, o.lasts) as s(subject, first, last)
                        where o.type = 'claim.settled'
                    ), held as (
                        select subject, count(*) as n from transfer where slot is not null group by subject
                    )
                    select format('row %s tells %s claims, the books have %s', t.n, t.events,
                                  sum(greatest(0, least(t.last, coalesce(h.n, 0) - 1) - t.first + 1)))
                    from told as t left join held as h on h.subject = t.subject
                    group by t.n, t.events
                    having t.events <> sum(greatest(0, least(t.last, coalesce(h.n, 0) - 1) - t.first + 1))
                    """),
            new Check("I16", "every claim is told, of packets and rains whose beginning is still in the outbox", """
                    -- What is old goes in the order in which it was written: so the send goes first.
                    with told as (
                        select s.subject, sum(s.last - s.first + 1) as n
                        from outbox as o
                        cross join lateral unnest(o.subjects, o.firsts, o.lasts) as s(subject, first, last)
                        where o.type = 'claim.settled'
                        group by s.subject
                    ), held as (
                        select subject, count(*) as n from transfer where slot is not null group by subject
                    )
                    select format('packet %s: %s claims, %s told', p.id, coalesce(h.n, 0), coalesce(t.n, 0))
                    from (select unnest(subjects) as id from outbox where type = 'packet.sent'
                          union all
                          select o.packet
                          from (select unnest(subjects) as id from outbox where type = 'rain.created') as r
                          join pool as o on o.campaign = r.id) as p
                    left join held as h on h.subject = p.id
                    left join told as t on t.subject = p.id
                    where coalesce(h.n, 0) <> coalesce(t.n, 0)
                    """),
            new Check("I16", "what becomes of campaigns, rains and draws is told, each fact once", """
                    with kept as (
                        -- What is old goes in the order in which it was written, which is that of its times but for how long a transaction
                        -- takes: an hour is far more.
                        select case when s.floor = 0 then '-infinity'
                                    else (select o.at from outbox as o order by o.n limit 1) + interval '1 hour' end as since
                        from outbox_state as s
                    ), funded as (
                        select t.subject, t.id, t.at, row_number() over (partition by t.subject order by t.id) as nth
                        from transfer as t join campaign as c on c.id = t.subject and c.kind = 'campaign'
                        where t.kind = 'fund'
                    ), facts as (
                        select case f.nth when 1 then 'campaign.created' else 'campaign.raised' end as type, f.subject, f.id as transfer, f.at
                        from funded as f
                        union all
                        select 'rain.created', c.id, 0, c.created_at from campaign as c where c.kind = 'rain'
                        union all
                        select c.kind || '.ended', c.id, 0, c.closed_at from campaign as c where c.closed_at is not null
                        union all
                        select 'draw.closed', d.id, 0, d.closed_at from draw as d where d.closed_at is not null
                    ), told as (
                        select o.type, s.subject, coalesce(s.transfer, 0) as transfer, count(*) as n
                        from outbox as o cross join lateral unnest(o.subjects, o.firsts) as s(subject, transfer)
                        where o.type in ('campaign.created', 'campaign.raised', 'campaign.ended', 'rain.created', 'rain.ended', 'draw.closed')
                        group by 1, 2, 3
                    )
                    select format('%s of %s: %s, and told %s times', coalesce(f.type, t.type), coalesce(f.subject, t.subject),
                                  coalesce('at ' || f.at, 'it is not so'), coalesce(t.n, 0))
                    from facts as f full join told as t on t.type = f.type and t.subject = f.subject and t.transfer = f.transfer
                    cross join kept as k
                    where f.type is null or t.n > 1 or t.n is null and f.at > k.since
                    """),
            new Check("I16", "the pauses of campaigns are told, of those whose making is still in the outbox", """
                    with made as (
                        select unnest(subjects) as id from outbox where type = 'campaign.created'
                    ), told as (
                        select s.id, count(*) filter (where o.type = 'campaign.paused') as paused,
                               count(*) filter (where o.type = 'campaign.resumed') as resumed
                        from outbox as o cross join lateral unnest(o.subjects) as s(id)
                        where o.type in ('campaign.paused', 'campaign.resumed')
                        group by s.id
                    )
                    select format('campaign %s: paused since %s, told %s pauses and %s resumptions', c.id, c.paused_at,
                                  coalesce(t.paused, 0), coalesce(t.resumed, 0))
                    from campaign as c join made as m on m.id = c.id left join told as t on t.id = c.id
                    where coalesce(t.paused, 0) - coalesce(t.resumed, 0) <> (c.paused_at is not null)::integer
                    """));

    private OutboxChecks() {}
}

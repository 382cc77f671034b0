package dev.hongbao.reconcile;

import java.util.List;

/** The rules for the outbox, as far as its rows are kept. */
final class OutboxChecks {
    static final List<Check> ALL = List.of(
            new Check("I16", "the outbox's claims are in the books", """
                -- Another check finds gaps in a packet's slots. So the books are read once, not for each row.
                with told as (
                    select o.n, o.events, s.subject, s.first, s.last
                    from outbox as o
                    cross join lateral unnest(o.subjects, o.firsts, o.lasts) as s(subject, first, last)
                    where o.type = 'claim.settled'
                )
                select format('row %s has %s claims, the books have %s', t.n, t.events,
                              sum(greatest(0, least(t.last, coalesce(h.claims, 0) - 1) - t.first + 1)))
                from told as t left join packet_claims as h on h.packet = t.subject
                group by t.n, t.events
                having t.events <> sum(greatest(0, least(t.last, coalesce(h.claims, 0) - 1) - t.first + 1))
                """),
            new Check("I16", "every claim is in the outbox, for packets and rains whose beginning is still there", """
                -- Rows are removed in the order of writing, so the send is removed first.
                with told as (
                    select s.subject, sum(s.last - s.first + 1) as n
                    from outbox as o
                    cross join lateral unnest(o.subjects, o.firsts, o.lasts) as s(subject, first, last)
                    where o.type = 'claim.settled'
                    group by s.subject
                )
                select format('packet %s: %s claims, %s in the outbox', p.id, coalesce(h.claims, 0), coalesce(t.n, 0))
                from (select unnest(subjects) as id from outbox where type = 'packet.sent'
                      union all
                      select o.packet
                      from (select unnest(subjects) as id from outbox where type = 'rain.created') as r
                      join pool as o on o.campaign = r.id) as p
                left join packet_claims as h on h.packet = p.id
                left join told as t on t.subject = p.id
                where coalesce(h.claims, 0) <> coalesce(t.n, 0)
                """),
            new Check("I16", "the life of every packet, campaign, rain and draw is in the outbox, each fact once", """
                        with funded as (
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
                            union all
                            select 'packet.expired', p.id, 0, p.closed_at
                            from packet as p where p.closed_at is not null and p.refund > 0 and p.ending is null
                            union all
                            select 'draw.opened', d.id, 0, greatest(d.opens_at, d.created_at)
                            from draw as d
                            where (d.closed_at is null or d.opens_at <= d.closed_at)
                              and not exists (select from draw_unopened as u where u.draw = d.id)
                            union all
                            select case when p.refund > 0 then 'packet.refunded' else 'packet.drained' end, p.id, 0, p.closed_at
                            from packet as p where p.closed_at is not null and not exists (select from refund_due as d where d.packet = p.id)
                        ), told as (
                            select o.type, s.subject, coalesce(s.transfer, 0) as transfer, count(*) as n
                            from outbox as o cross join lateral unnest(o.subjects, o.firsts) as s(subject, transfer)
                            where o.type in ('campaign.created', 'campaign.raised', 'campaign.ended', 'rain.created', 'rain.ended', 'draw.opened',
                                             'draw.closed', 'packet.drained', 'packet.expired', 'packet.refunded')
                            group by 1, 2, 3
                        )
                        select format('%s of %s: %s, in the outbox %s times', coalesce(f.type, t.type), coalesce(f.subject, t.subject),
                                      coalesce('at ' || f.at, 'not in the books'), coalesce(t.n, 0))
                        from facts as f full join told as t on t.type = f.type and t.subject = f.subject and t.transfer = f.transfer
                        cross join kept as k
                        where f.type is null or t.n > 1 or t.n is null and f.at > k.since
                        """),
            new Check(
                    "I16",
                    "every pause of a campaign is in the outbox, for campaigns whose beginning is still there",
                    """
                with made as (
                    select unnest(subjects) as id from outbox where type = 'campaign.created'
                ), told as (
                    select s.id, count(*) filter (where o.type = 'campaign.paused') as paused,
                           count(*) filter (where o.type = 'campaign.resumed') as resumed
                    from outbox as o cross join lateral unnest(o.subjects) as s(id)
                    where o.type in ('campaign.paused', 'campaign.resumed')
                    group by s.id
                )
                select format('campaign %s: paused since %s, in the outbox %s pauses and %s resumptions', c.id, c.paused_at,
                              coalesce(t.paused, 0), coalesce(t.resumed, 0))
                from campaign as c join made as m on m.id = c.id left join told as t on t.id = c.id
                where coalesce(t.paused, 0) - coalesce(t.resumed, 0) <> (c.paused_at is not null)::integer
                """),
            new Check("I16", "every restriction and fulfilment is in the outbox once", """
                with facts as (
                    select 'restriction' as kind, md5(r.scope || ' ' || r.subject)::uuid as subject, r.n as first, 0::bigint as last, r.at
                    from restriction as r
                    union all
                    select 'fulfilment', f.draw, f.seq, f.n, f.at from fulfilment as f
                ), told as (
                    select case when o.type = 'fulfilment.changed' then 'fulfilment' else 'restriction' end as kind,
                           s.subject, s.first, coalesce(s.last, 0) as last, count(*) as n
                    from outbox as o cross join lateral unnest(o.subjects, o.firsts, o.lasts) as s(subject, first, last)
                    where o.type = 'fulfilment.changed' or o.type like 'user.%' or o.type like 'group.%'
                    group by 1, 2, 3, 4
                )
                select format('%s %s %s of %s: %s, in the outbox %s times', coalesce(f.kind, t.kind), coalesce(f.first, t.first),
                              coalesce(f.last, t.last), coalesce(f.subject, t.subject), coalesce('at ' || f.at, 'not in the books'),
                              coalesce(t.n, 0))
                from facts as f
                full join told as t on t.kind = f.kind and t.subject = f.subject and t.first = f.first and t.last = f.last
                cross join kept as k
                where f.kind is null or t.n > 1 or t.n is null and f.at > k.since
                """),
            new Check("I16", "a row of the outbox has as many facts as it names", """
                select format('row %s of %s has %s facts, and names %s', n, type, events, named)
                from (select o.n, o.type, o.events,
                             case when o.type in ('claim.settled', 'play.settled')
                                  then (select sum(s.last - s.first + 1) from unnest(o.firsts, o.lasts) as s(first, last))
                                  else cardinality(o.subjects) end as named
                      from outbox as o) as r
                where events is distinct from named
                """),
            new Check("I16", "every send, deposit, withdrawal, cost, return and reversal is in the outbox once", """
                        with of_rains as (
                            -- The event rain.created covers the transfers to a rain's drops.
                            select escrow from campaign where kind = 'rain'
                        ), told as (
                            select o.type, s.subject, s.id, count(*) as n
                            from outbox as o cross join lateral unnest(o.subjects, o.firsts) as s(subject, id)
                            where o.type = 'packet.sent' or o.type like 'transfer.%'
                            group by 1, 2, 3
                        ), made as (
                            -- By time: its index skips transfers older than the outbox.
                            select t.subject, t.id, t.at, case t.kind when 'send' then 'packet.sent' else 'transfer.' || t.kind end as type
                            from transfer as t
                            where t.kind in ('send', 'deposit', 'withdrawal', 'cost', 'return', 'reversal') and t.at > (select since from kept)
                              and t.debit not in (select escrow from of_rains)
                        )
                        select format('%s of %s: in the outbox %s times, in the books %s', t.type, t.subject, t.n, coalesce(b.kind, 'no such transfer'))
                        from told as t left join transfer as b on b.subject = t.subject and b.id = t.id
                        where t.n > 1 or t.type is distinct from case b.kind when 'send' then 'packet.sent' else 'transfer.' || b.kind end
                           or b.debit in (select escrow from of_rains)
                        union all
                        select format('%s of %s at %s is not in the outbox', m.type, m.subject, m.at)
                        from made as m
                        where not exists (select from told as t where t.type = m.type and t.subject = m.subject and t.id = m.id)
                        """),
            new Check("I16", "every play is in the outbox once", """
                with told as (
                    select s.subject as draw, sum(s.last - s.first + 1) as n, range_agg(int8range(s.first, s.last, '[]')) as seqs
                    from outbox as o cross join lateral unnest(o.subjects, o.firsts, o.lasts) as s(subject, first, last)
                    where o.type = 'play.settled'
                    group by s.subject
                ), held as (
                    select p.draw, count(*) filter (where p.seq <@ t.seqs) as told,
                           count(*) filter (where p.at > k.since and not p.seq <@ coalesce(t.seqs, '{}')) as untold
                    from play as p left join told as t on t.draw = p.draw cross join kept as k
                    group by p.draw
                )
                select format('draw %s: %s plays in the outbox, %s of them in the books, and %s missing', coalesce(t.draw, h.draw),
                              coalesce(t.n, 0), coalesce(h.told, 0), coalesce(h.untold, 0))
                from told as t full join held as h on h.draw = t.draw
                where coalesce(t.n, 0) <> coalesce(h.told, 0) or h.untold > 0
                """));

    private OutboxChecks() {}
}

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
            new Check("I16", "every claim is told, of packets whose send is still in the outbox", """
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
                    from (select unnest(subjects) as id from outbox where type = 'packet.sent') as p
                    left join held as h on h.subject = p.id
                    left join told as t on t.subject = p.id
                    where coalesce(h.n, 0) <> coalesce(t.n, 0)
                    """));

    private OutboxChecks() {}
}

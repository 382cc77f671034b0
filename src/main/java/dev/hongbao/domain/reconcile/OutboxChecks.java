package dev.hongbao.domain.reconcile;

import java.util.List;

/** The rules on what the host application is told, for as long as it is kept. */
final class OutboxChecks {
    static final List<Check> ALL = List.of(
            new Check("I16", "what the outbox tells of claims is in the books", """
                    select format('row %s tells %s claims, the books have %s', o.n, o.events, t.n)
                    from outbox as o
                    cross join lateral (
                        select count(*) as n
                        from unnest(o.subjects, o.firsts, o.lasts) as s(subject, first, last)
                        join transfer as t on t.subject = s.subject and t.slot is not null and t.slot between s.first and s.last) as t
                    where o.type = 'claim.settled' and o.events <> t.n
                    """),
            new Check("I16", "every claim is told, of packets whose send is still in the outbox", """
                    -- What is old goes in the order in which it was written: so the send goes first.
                    select format('packet %s: %s claims, %s told', p.id, c.n, coalesce(t.n, 0))
                    from (select unnest(subjects) as id from outbox where type = 'packet.sent') as p
                    cross join lateral (
                        select count(*) as n from transfer where subject = p.id and slot is not null) as c
                    left join (select s.subject, sum(s.last - s.first + 1) as n
                               from outbox as o
                               cross join lateral unnest(o.subjects, o.firsts, o.lasts) as s(subject, first, last)
                               where o.type = 'claim.settled' group by s.subject) as t on t.subject = p.id
                    where c.n <> coalesce(t.n, 0)
                    """));

    private OutboxChecks() {}
}

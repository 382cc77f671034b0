package dev.hongbao.domain.reconcile;

import java.util.List;

/** The rules on prize draws. */
final class DrawChecks {
    static final List<Check> ALL = List.of(
            new Check("I10", "no prize is issued more often than there is stock", """
                    select format('draw %s prize %s: issued %s of %s', draw, n, issued, stock)
                    from prize where issued > stock
                    """),
            new Check("I10", "what is issued of a prize was played, numbered without gaps", """
                    select format('draw %s prize %s: issued %s, plays %s, the last is number %s',
                                  z.draw, z.n, z.issued, p.plays, p.last)
                    from prize as z
                    cross join lateral (select count(*) as plays, coalesce(max(nth), 0) as last
                                        from play as p where p.draw = z.draw and p.prize = z.n) as p
                    where z.issued <> p.plays or z.issued <> p.last
                    """),
            new Check(
                    "I10",
                    "in every round of a table each prize comes up at most its count, and a full round is exact",
                    """
                    select format('draw %s round %s prize %s: %s plays of %s', draw, round, prize, plays, count)
                    from (select p.draw, p.round, p.prize, count(*) as plays,
                                 (d.definition -> 'prizes' -> (p.prize - 1) ->> 'count')::bigint as count
                          from play as p join draw as d on d.id = p.draw
                          where d.mode = 'table' and p.prize <= jsonb_array_length(d.definition -> 'prizes')
                          group by p.draw, p.round, p.prize, d.definition) as r
                    where plays > count
                       or (plays < count
                           and exists (select from play as later where later.draw = r.draw and later.round > r.round
                                       and later.prize <= (select jsonb_array_length(definition -> 'prizes')
                                                           from draw where id = r.draw))
                           and exists (select from draw as d where d.id = r.draw
                                       and d.definition ->> 'whenExhausted' = 'repeat'))
                    """),
            new Check(
                    "I10",
                    "every play belongs to a settled request of its time, and a settled request has its plays",
                    """
                    select format('request %s of draw %s: %s, %s plays of %s', t.id, t.draw, t.status, p.plays, t.plays)
                    from play_request as t
                    cross join lateral (select count(*) as plays from play where request = t.id) as p
                    where p.plays <> case when t.status = 'settled' then t.plays else 0 end
                    union all
                    select format('play %s of draw %s has no request', p.seq, p.draw)
                    from play as p where not exists (select from play_request where id = p.request)
                    union all
                    select format('play %s of draw %s, which opened at %s: at %s, settled at %s',
                                  p.seq, p.draw, d.opens_at, p.at, t.decided_at)
                    from play as p join play_request as t on t.id = p.request join draw as d on d.id = p.draw
                    where greatest(p.at, d.opens_at) > t.decided_at + interval '1 minute'
                    """),
            new Check(
                    "I10",
                    "a request costs what its plays cost, once; what is held and not returned is in the hold",
                    """
                    select format('draw %s: held or paid %s, the hold has %s', d.id, t.cost, h.balance)
                    from draw as d
                    join account as h on h.id = d.hold
                    cross join lateral (select coalesce(sum(cost), 0) as cost from play_request
                                        where draw = d.id and status in ('held', 'settled')) as t
                    where h.balance <> case when d.closed_at is null then t.cost else 0 end
                    union all
                    select format('request %s of draw %s: %s plays cost %s', t.id, t.draw, t.plays, t.cost)
                    from play_request as t join draw as d on d.id = t.draw
                    where t.cost <> d.cost * t.plays
                    """),
            new Check("I10", "the escrows hold what can still be won, and nothing after the close", """
                    select format('draw %s: %s can be won, the escrow has %s', z.draw, z.sum, e.balance)
                    from (select z.draw, z.escrow, sum((z.stock - z.issued) * z.amount) as sum
                          from prize as z where z.escrow is not null group by z.draw, z.escrow) as z
                    join draw as d on d.id = z.draw
                    join account as e on e.id = z.escrow
                    where e.balance <> case when d.closed_at is null then z.sum else 0 end
                    """),
            new Check("I10", "every won amount was paid by one transfer to its user, and no other was", """
                    select format('draw %s user %s: won %s, paid %s', draw, user_id, won.amount, paid.amount)
                    from (select p.draw, p.user_id, sum(z.amount) as amount
                          from play as p join prize as z on z.draw = p.draw and z.n = p.prize
                          where z.amount > 0 group by p.draw, p.user_id) as won
                    full join (select t.subject as draw, w.owner as user_id, sum(t.amount) as amount
                               from transfer as t join account as w on w.id = t.credit
                               where t.kind = 'award' group by t.subject, w.owner) as paid using (draw, user_id)
                    where won.amount is distinct from paid.amount
                    """),
            new Check(
                    "I10", "a schedule takes from the stock what it releases, and no play was before its moment", """
                    select format('draw %s prize %s: planned %s, on the schedule %s', z.draw, z.n, z.planned, r.count)
                    from prize as z
                    cross join lateral (select count(*) from release as r
                                        where r.draw = z.draw and r.prize = z.n and not r.withdrawn) as r
                    where z.planned <> r.count
                    union all
                    select format('draw %s play %s took a release of %s at %s, settled at %s',
                                  p.draw, p.seq, r.moment, p.at, t.decided_at)
                    from play as p
                    left join play_request as t on t.id = p.request
                    left join release as r on r.draw = p.draw and r.period = p.period and r.prize = p.prize
                                          and r.n = p.release
                    join draw as d on d.id = p.draw
                    where p.period is not null
                      and (r.n is null or r.withdrawn
                           -- Postgres wrote when it was settled, and settles what was due to the minute.
                           or (r.moment > least(p.at, t.decided_at + interval '1 minute')
                               and jsonb_array_length(d.definition -> 'guarantees') = 0))
                    """),
            new Check("I10", "the final table of a closed draw is true", """
                    select format('draw %s prize %s: issued %s, the table says %s', d.id, z.n, z.issued, t ->> 'issued')
                    from draw as d
                    cross join lateral jsonb_array_elements(d.final_table -> 'prizes') as t
                    join prize as z on z.draw = d.id and z.n = (t ->> 'prize')::smallint
                    where (t ->> 'issued')::bigint <> z.issued or not (d.final_table ->> 'checked')::boolean
                    """),
            new Check("I10", "a user's counters count the user's plays", """
                    select format('draw %s user %s: counted %s, played %s', y.draw, y.user_id, y.counters[1], p.plays)
                    from player as y
                    cross join lateral (select count(*) as plays from play
                                        where draw = y.draw and user_id = y.user_id) as p
                    where y.counters[1] <> p.plays
                    """),
            new Check("I11", "no draw stays open after its time", Severity.HEALS, """
                    select format('draw %s is open and was due at %s', id, closes_at)
                    from draw where closed_at is null and closes_at < now() - interval '10 seconds'
                      and not exists (select from quarantine_unit as q where q.id = draw.id)
                    """));

    private DrawChecks() {}
}

package dev.hongbao.reconcile;

import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import java.util.List;

/** The rules for prize draws. */
final class DrawChecks {
    static final List<Check> ALL = List.of(
            new Check("I10", "no prize is issued more often than there is stock", """
                select format('draw %s prize %s: issued %s of %s', draw, n, issued, stock)
                from prize where issued > stock
                """).since(Scope.DRAWS),
            new Check("I10", "a prize's issued number is its number of plays, which are numbered without gaps", """
                select format('draw %s prize %s: issued %s, plays %s, of these not in order %s', z.draw, z.n, z.issued, p.plays, p.misplaced)
                from prize as z
                left join (select draw, prize, count(*) as plays, count(*) filter (where nth <> place) as misplaced
                           from (select draw, prize, nth, row_number() over (partition by draw, prize order by seq) as place
                                 from play) as each
                           group by draw, prize) as p on p.draw = z.draw and p.prize = z.n
                where z.issued <> coalesce(p.plays, 0) or p.misplaced > 0
                """)
                    .since(Scope.DRAWS),
            new Check(
                            "I10",
                            "in every round of a table each prize comes up at most its count, and a full round is"
                                    + " exact",
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
                            """)
                    .since(Scope.DRAWS),
            new Check("I10", "a request is played once and as a whole, by one user in one draw, and at its time", """
                select format('request %s: %s plays, the last is number %s, in places %s to %s of %s draws and users',
                              request, plays, last + 1, first_seq, last_seq, whose)
                from (select request, count(*) as plays, max(part) as last, min(seq) as first_seq, max(seq) as last_seq,
                             count(distinct (draw, user_id)) as whose
                      from play group by request) as r
                where plays <> last + 1 or last <> last_seq - first_seq or whose <> 1
                union all
                select format('request %s of draw %s is %s and was played', t.id, t.draw, t.status)
                from play_request as t where exists (select from play where request = t.id)
                union all
                select format('play %s of draw %s, which opened at %s: at %s, settled at %s',
                              p.seq, p.draw, d.opens_at, p.at, p.settled_at)
                from play as p join draw as d on d.id = p.draw
                where p.at > p.settled_at + interval '1 minute'
                   or not is_open_at(d.opens_at, d.created_at, p.settled_at + interval '1 minute')
                """)
                    .since(Scope.DRAWS),
            new Check("I10", "a user pays for plays once; held costs that are not returned are in the hold", """
                select format('draw %s: held or paid %s, the hold has %s', d.id, t.cost + d.cost * p.plays, h.balance)
                from draw as d
                join account as h on h.id = d.hold
                cross join lateral (select coalesce(sum(cost), 0) as cost from play_request
                                    where draw = d.id and status = 'held') as t
                cross join lateral (select count(*) as plays from play where draw = d.id) as p
                where h.balance <> case when d.closed_at is null then t.cost + d.cost * p.plays else 0 end
                union all
                select format('request %s of draw %s: %s plays cost %s', t.id, t.draw, t.plays, t.cost)
                from play_request as t join draw as d on d.id = t.draw
                where t.cost <> d.cost * t.plays
                union all
                select format('draw %s user %s: plays and holds cost %s, paid %s', draw, user_id, due.cost, paid.cost)
                from (select draw, user_id, sum(cost) as cost
                      from (select p.draw, p.user_id, d.cost
                            from play as p join draw as d on d.id = p.draw where d.cost > 0
                            union all
                            select draw, user_id, cost from play_request where status = 'held') as costs
                      group by draw, user_id) as due
                full join (select t.subject as draw, w.owner as user_id,
                                  sum(case t.kind when 'cost' then t.amount else -t.amount end) as cost
                           from transfer as t
                           join account as w on w.id = case t.kind when 'cost' then t.debit else t.credit end
                           where t.kind in ('cost', 'return') group by t.subject, w.owner) as paid using (draw, user_id)
                where coalesce(due.cost, 0) <> coalesce(paid.cost, 0)
                """)
                    .since(Scope.DRAWS),
            new Check("I10", "the owner of a draw funds it, and gets its rest and its proceeds", """
                select format('draw %s of %s: transfer %s, a %s, joins the wallet of %s', d.id, d.owner, t.id, t.kind, w.owner)
                from draw as d
                join transfer as t on t.subject = d.id and t.kind in ('fund', 'refund', 'proceeds')
                join account as w on w.id = case t.kind when 'fund' then t.debit else t.credit end
                where w.owner <> d.owner
                """)
                    .since(Scope.DRAWS),
            new Check("I10", "the escrows hold what can still be won, and nothing after the close", """
                select format('draw %s: %s can be won, the escrow has %s', z.draw, z.sum, e.balance)
                from (select z.draw, z.escrow, sum((z.stock - z.issued) * z.amount) as sum
                      from prize as z where z.escrow is not null group by z.draw, z.escrow) as z
                join draw as d on d.id = z.draw
                join account as e on e.id = z.escrow
                where e.balance <> case when d.closed_at is null then z.sum else 0 end
                """)
                    .since(Scope.DRAWS),
            new Check("I10", "every won amount was paid by one transfer to its user, and no other was", """
                select format('draw %s user %s: won %s of %s, paid %s', draw, user_id, won.amount, asset, paid.amount)
                from (select p.draw, p.user_id, e.asset, sum(z.amount) as amount
                      from play as p join prize as z on z.draw = p.draw and z.n = p.prize join account as e on e.id = z.escrow
                      group by p.draw, p.user_id, e.asset) as won
                full join (select t.subject as draw, w.owner as user_id, w.asset, sum(t.amount) as amount
                           from transfer as t join account as w on w.id = t.credit
                           where t.kind = 'award' group by t.subject, w.owner, w.asset) as paid using (draw, user_id, asset)
                where won.amount is distinct from paid.amount
                """)
                    .since(Scope.DRAWS),
            new Check("I10", "a schedule takes from the stock what it releases, and no play was before its moment", """
                select format('draw %s prize %s: planned %s, on the schedule %s', z.draw, z.n, z.planned, r.count)
                from prize as z
                cross join lateral (select count(*) from release as r
                                    where r.draw = z.draw and r.prize = z.n and not r.withdrawn) as r
                where z.planned <> r.count
                union all
                select format('draw %s play %s took a release of %s at %s, settled at %s',
                              p.draw, p.seq, r.moment, p.at, p.settled_at)
                from play as p
                left join release as r on r.draw = p.draw and r.period = p.period and r.prize = p.prize
                                      and r.n = p.release
                join draw as d on d.id = p.draw
                where p.period is not null
                  and (r.n is null or r.withdrawn
                       -- The settlement's time is Postgres' own, which accepts due releases to the minute.
                       or (r.moment > least(p.at, p.settled_at + interval '1 minute')
                           and jsonb_array_length(d.definition -> 'guarantees') = 0))
                """)
                    .since(Scope.DRAWS),
            new Check("I10", "the final table of a closed draw is true", """
                select format('draw %s prize %s: %s, issued %s of %s, the table says %s', d.id, z.n, z.name, z.issued, z.stock, t.prize)
                from draw as d
                join prize as z on z.draw = d.id
                left join lateral jsonb_array_elements(d.final_table -> 'prizes') as t(prize) on (t.prize ->> 'prize')::smallint = z.n
                where d.closed_at is not null
                  and (t.prize, d.final_table -> 'checked')
                      is distinct from (jsonb_build_object('prize', z.n, 'name', z.name, 'stock', z.stock, 'issued', z.issued,
                                                           'played', z.issued, 'left', z.stock - z.issued), 'true'::jsonb)
                """).since(Scope.DRAWS),
            new Check("I10", "a user's counters count the user's plays", """
                select format('draw %s user %s: counted %s, played %s', draw, user_id, y.counters[1], p.plays)
                from player as y
                full join (select draw, user_id, count(*) as plays from play
                           where draw in (select draw from player) group by draw, user_id) as p using (draw, user_id)
                where y.counters[1] is distinct from p.plays
                """).since(Scope.DRAWS),
            new Check("I11", "no draw stays open after its time", Severity.HEALS, """
                select format('draw %s is open and was due at %s', id, closes_at)
                from draw where closed_at is null and closes_at < now() - interval '10 seconds'
                  and not exists (select from quarantine_unit as q where q.id = draw.id)
                """).since(Scope.WHOLE));

    private DrawChecks() {}
}

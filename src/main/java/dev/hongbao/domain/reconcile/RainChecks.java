package dev.hongbao.domain.reconcile;

import java.util.List;

/** The rules for rains, beside the rules for campaigns. */
final class RainChecks {
    static final List<Check> ALL = List.of(
            new Check("I1", "a rain's budget is in its drops, evenly", """
                select format('rain %s: %s drops of %s with %s of %s, from %s to %s', r.id, p.n, r.drops, p.sum, c.budget, p.least, p.most)
                from rain as r join campaign as c on c.id = r.id
                cross join lateral (select count(*) as n, sum(p.amount) as sum, min(p.amount) as least, max(p.amount) as most
                                    from pool as o join packet as p on p.id = o.packet where o.campaign = r.id) as p
                where p.n <> r.drops or p.sum is distinct from c.budget or p.most - p.least > 1
                """).since(Scope.CAMPAIGNS),
            new Check("I2", "a drop is in its rain's channel, falls in its time, and ends with it", """
                select format('rain %s drop %s: group %s, opens at %s, expires at %s', r.id, p.id, p.group_id, p.opens_at, p.expires_at)
                from rain as r join campaign as c on c.id = r.id join pool as o on o.campaign = r.id join packet as p on p.id = o.packet
                where p.group_id <> r.channel
                   or (p.opens_at < r.starts_at or p.opens_at >= r.last_at)
                      and p.opens_at is distinct from r.cancelled_at - interval '1 microsecond'
                   or p.expires_at not in (r.ends_at, c.ends_at)
                """)
                    .since(Scope.CAMPAIGNS),
            new Check("I10", "a rain counts what its users catch", """
                select format('rain %s: one user catches %s, the limit is %s', c.id, c.definition ->> 'catchesPerUser',
                              c.definition -> 'claiming' ->> 'total')
                from campaign as c
                where c.kind = 'rain'
                  and c.definition ->> 'catchesPerUser' is distinct from c.definition -> 'claiming' ->> 'total'
                """).since(Scope.CAMPAIGNS),
            new Check("I4", "a rain's campaign and its own row fit together, and neither is alone", """
                select format('campaign %s is a %s; %s', c.id, c.kind, case when r.id is null then 'no rain' else 'a rain' end)
                from campaign as c left join rain as r on r.id = c.id
                where (c.kind = 'rain') <> (r.id is not null)
                """)
                    .since(Scope.CAMPAIGNS),
            new Check("I16", "a rain's feed has its catches, and its end when it is over", """
                select format('rain %s: its feed has %s caught of %s, ended %s, closed at %s', r.id, r.caught, s.caught, r.ended, c.closed_at)
                from rain as r join campaign as c on c.id = r.id cross join lateral rain_catches(r.id) as s
                where r.caught > s.caught or r.ended <> (c.closed_at is not null)
                """).since(Scope.CAMPAIGNS));

    private RainChecks() {}
}

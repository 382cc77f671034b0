package dev.hongbao.reconcile;

import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import java.util.List;

/** The rules for campaigns and rains. */
final class CampaignChecks {
    static final List<Check> CAMPAIGNS = List.of(
            new Check("I1", "a campaign's escrow is its budget, less its pools, plus their refunds", """
                select format('campaign %s: funds %s of a budget of %s, pools %s, back from them %s, returned %s, the escrow holds %s',
                              c.id, f.sum, c.budget, p.amount, p.refund, c.returned, e.balance)
                from campaign as c
                join account as e on e.id = c.escrow
                cross join lateral (select coalesce(sum(amount), 0) as sum from transfer
                                    where subject = c.id and kind = 'fund' and credit = c.escrow and debit = c.refund_to) as f
                cross join lateral (select coalesce(sum(p.amount), 0) as amount, coalesce(sum(p.refund) filter (where d.packet is null), 0) as refund
                                    from pool as o join packet as p on p.id = o.packet left join refund_due as d on d.packet = p.id
                                    where o.campaign = c.id) as p
                where f.sum <> c.budget or e.balance <> c.budget - p.amount + p.refund - c.returned
                """)
                    .since(Scope.CAMPAIGNS),
            new Check("I1", "a closed campaign has an empty escrow and no open pool", """
                select format('campaign %s is closed, its escrow holds %s, open pools %s', c.id, e.balance, p.open)
                from campaign as c
                join account as e on e.id = c.escrow
                cross join lateral (select count(*) as open from pool as o join packet as p on p.id = o.packet
                                    where o.campaign = c.id and p.closed_at is null) as p
                where c.closed_at is not null and (e.balance <> 0 or p.open > 0)
                """).since(Scope.CAMPAIGNS),
            new Check("I1", "a pool is in its campaign's shard, and is paid from its escrow", """
                select format('pool %s of campaign %s: shard %s of %s, sender %s', p.id, c.id, p.shard, c.shard, p.sender)
                from pool as o join campaign as c on c.id = o.campaign join packet as p on p.id = o.packet
                where p.shard <> c.shard or p.sender <> c.id::text or p.asset <> c.asset or p.refund_to <> c.escrow
                """)
                    .since(Scope.CAMPAIGNS),
            new Check("I1", "a packet that a campaign pays is a pool of it", """
                select format('packet %s is paid by a campaign, and no pool', p.id)
                from packet as p join campaign as c on c.escrow = p.refund_to
                where not exists (select from pool as o where o.packet = p.id)
                """).since(Scope.PACKETS),
            new Check("I8", "a campaign's remainder is returned to its host once", """
                select format('campaign %s of %s: returned %s, transfers %s, to %s', c.id, c.sponsor, c.returned, coalesce(t.sum, 0), w.owner)
                from campaign as c
                join account as w on w.id = c.refund_to
                left join (select subject, sum(amount) as sum, count(*) as n, min(credit) as credit
                           from transfer where kind = 'refund' group by subject) as t on t.subject = c.id
                where c.returned <> coalesce(t.sum, 0) or t.n > 1 or t.credit <> c.refund_to or (w.kind, w.owner) <> ('wallet', c.sponsor)
                """).since(Scope.CAMPAIGNS),
            new Check("I10", "no user has more of a campaign than its limits for all time and for a product", """
                select format('campaign %s user %s: %s claims in all, %s for %s', id, owner, total, count(*), product)
                from (select c.id, w.owner, o.product, c.definition -> 'claiming' as claiming,
                             count(*) over (partition by c.id, w.owner) as total
                      from campaign as c join pool as o on o.campaign = c.id
                      join transfer as t on t.subject = o.packet and t.slot is not null
                      join account as w on w.id = t.credit
                      where c.definition -> 'claiming' ?| array['total', 'aProduct']) as claims
                group by id, owner, product, claiming, total
                having count(*) > (claiming ->> 'aProduct')::bigint or total > (claiming ->> 'total')::bigint
                """)
                    .since(Scope.CAMPAIGNS),
            // A claim counts for the day on which it was made. That is between the opening of its pool and its
            // settlement, plus a minute for clocks that differ. So each day, and each two consecutive days, have at
            // least the claims that no other day can have.
            new Check("I10", "no user has more of a campaign on a day than its limit", """
                select format('campaign %s user %s: %s claims on the %s days from %s on', id, owner, count(*), days,
                              date '1970-01-01' + from_day)
                from (select c.id, w.owner, (c.definition #>> '{claiming,aDay}')::bigint as a_day,
                             local_day(least(p.opens_at, t.at) - interval '1 minute', c.zone) as first,
                             local_day(t.at + interval '1 minute', c.zone) as last
                      from campaign as c join pool as o on o.campaign = c.id join packet as p on p.id = o.packet
                      join transfer as t on t.subject = o.packet and t.slot is not null
                      join account as w on w.id = t.credit
                      where c.definition -> 'claiming' ? 'aDay') as claims
                cross join generate_series(1, 2) as days
                cross join lateral generate_series(last - days + 1, first) as from_day
                group by id, owner, a_day, days, from_day
                having count(*) > a_day * days
                """).since(Scope.CAMPAIGNS),
            new Check("I11", "no campaign stays open after its end", Severity.HEALS, """
                select format('campaign %s is open and has ended at %s', c.id, c.ends_at)
                from campaign as c
                where c.closed_at is null and c.ends_at < now() - interval '20 seconds'
                  and not exists (select from pool as o join quarantine_unit as q on q.id = o.packet
                                  where o.campaign = c.id)
                """).since(Scope.WHOLE));

    /** The further rules for rains. */
    static final List<Check> RAINS = List.of(
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

    private CampaignChecks() {}
}

package dev.hongbao.domain.reconcile;

import java.util.List;

/** The rules for assets. */
final class AssetChecks {
    static final List<Check> ALL = List.of(
            new Check("I3", "every asset that is held was declared", """
                    select format('%s of %s in %s', a.kind, a.owner, a.asset)
                    from account as a where not exists (select from asset as d where d.code = a.asset)
                    """).since(Scope.ACCOUNTS),
            new Check("I10", "a sender's total of a day, for the cap, is the sum of the sender's packets", """
                    select format('wallet %s on %s: counted %s, sent %s', s.wallet, s.day, s.amount, coalesce(p.sum, 0))
                    from sent_on_day as s
                    join account as w on w.id = s.wallet
                    cross join lateral (
                        select sum(p.amount) as sum from packet as p
                        where p.sender = w.owner and p.asset = w.asset and p.refund_to = s.wallet
                          and (p.created_at at time zone 'UTC')::date = s.day) as p
                    where s.amount is distinct from p.sum
                    """));

    private AssetChecks() {}
}

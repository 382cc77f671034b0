package dev.hongbao.reconcile;

import java.util.List;

/** The rules for commands, reversals and the audit log. */
final class CommandChecks {
    static final List<Check> ALL = List.of(
            new Check("I3", "a command's own transfers have its kind and its time", """
                select format('transfer %s of %s at %s: a %s, asked for as a %s at %s', t.id, t.subject, t.at, t.kind, c.operation, c.at)
                from other_transfer as t
                join command as c on c.id = t.subject
                left join budget_raise as r on r.campaign = t.subject and r.transfer = t.id
                where t.kind in ('deposit', 'withdrawal', 'send', 'fund', 'reversal') and r.command is null
                  and (c.at <> t.at
                       or case t.kind when 'fund' then c.operation not in ('draw', 'campaign', 'rain') else c.operation <> t.kind end)
                """).since(Scope.TRANSFERS),
            new Check("I3", "a command that moves money has its transfers", """
                select format('command %s, a %s of %s', c.id, c.operation, c.actor)
                from command as c
                left join transfer as t on t.subject = c.id and t.kind = c.operation
                where c.operation in ('deposit', 'withdrawal', 'send', 'reversal')
                group by c.id having count(t.id) <> 1
                """),
            new Check("I3", "each raise of a campaign's budget has its own command", """
                select format('campaign %s: transfer %s, command %s', t.subject, t.id, r.command)
                from (select t.subject, t.id, t.at, row_number() over (partition by t.subject order by t.id) as nth
                      from transfer as t join campaign as c on c.id = t.subject where t.kind = 'fund') as t
                left join budget_raise as r on r.campaign = t.subject and r.transfer = t.id
                left join command as c on c.id = r.command and c.operation = 'budget' and c.at = t.at
                where (t.nth = 1 and r.command is not null) or (t.nth > 1 and c.id is null)
                """).since(Scope.CAMPAIGNS),
            new Check("I3", "a command that raises a budget has its raise", """
                select format('command %s raised no budget', c.id)
                from command as c left join budget_raise as r on r.command = c.id
                left join transfer as t on t.subject = r.campaign and t.id = r.transfer and t.kind = 'fund'
                where c.operation = 'budget' and t.id is null
                """),
            new Check("I3", "a reversal returns the amount of one transfer to its payer", """
                select format('reversal %s of transfer %s of %s: %s of %s from %s to %s, a %s of %s from %s to %s',
                              r.command, r.transfer, r.subject, b.id, b.amount, b.debit, b.credit, t.kind, t.amount, t.debit, t.credit)
                from reversal as r
                left join transfer as b on b.subject = r.command and b.kind = 'reversal'
                left join transfer as t on t.subject = r.subject and t.id = r.transfer
                left join packet as p on p.id = r.subject
                left join pool as o on o.packet = p.id
                left join campaign as c on c.id = o.campaign
                left join draw as d on d.id = r.subject
                left join account as e on e.id = t.debit
                left join account as w on w.owner = d.owner and w.kind = 'wallet' and w.asset = e.asset
                where b.amount is distinct from t.amount
                   or b.debit is distinct from t.credit
                   or b.credit is distinct from case t.kind
                          when 'deposit' then t.debit
                          when 'withdrawal' then t.debit
                          when 'claim' then coalesce(c.refund_to, p.refund_to)
                          when 'award' then w.id
                      end
                """).since(Scope.REVERSALS),
            new Check("I3", "a reversal names the transfer that it reverses, and the reason", """
                select format('transfer %s of %s, reason %s', t.id, t.subject, c.reason)
                from other_transfer as t
                left join reversal as r on r.command = t.subject
                left join command as c on c.id = t.subject
                where t.kind = 'reversal' and (r.command is null or c.reason is null or c.role <> 'service')
                """)
                    .since(Scope.TRANSFERS),
            new Check("I3", "the rows of the audit log are numbered without gaps", """
                select format('row %s at %s after row %s at %s', n, at, previous, earlier)
                from (select n, at, lag(n, 1, (select f.n from audit_floor as f)) over (order by n) as previous,
                             lag(at, 1, at) over (order by n) as earlier
                      from audit_log) as rows
                where n <> previous + 1 or at < earlier
                """));

    private CommandChecks() {}
}

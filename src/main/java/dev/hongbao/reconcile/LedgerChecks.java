package dev.hongbao.reconcile;

import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import java.util.List;

/** The rules for money: of assets and packets; of commands, reversals and the audit log. */
final class LedgerChecks {
    /** For assets and packets. */
    static final List<Check> PACKETS = List.of(
            new Check("I1", "claims + refund + escrow = total, for every packet", """
                -- A refund that is due is still in the escrow.
                select format('packet %s: claims %s + refund %s%s + escrow %s is not %s',
                              p.id, coalesce(c.amount, 0), p.refund, case when d.packet is not null then ' (due)' end, e.balance, p.amount)
                from packet as p
                join account as e on e.id = p.escrow
                left join refund_due as d on d.packet = p.id
                left join packet_claims as c on c.packet = p.id
                where coalesce(c.amount, 0) + case when d.packet is null then p.refund else 0 end + e.balance <> p.amount
                """).since(Scope.PACKETS),
            new Check("I1", "the escrow of a closed packet is empty, or holds the refund that is due", """
                select format('packet %s is closed, its escrow holds %s', p.id, e.balance)
                from packet as p
                join account as e on e.id = p.escrow
                left join refund_due as d on d.packet = p.id
                where p.closed_at is not null and e.balance <> case when d.packet is null then 0 else p.refund end
                """)
                    .since(Scope.PACKETS),
            new Check("I1", "a packet is paid once, into its own escrow, by its sender, who gets the remainder", """
                select format('packet %s of %s: %s transfers of %s from account %s to %s; its escrow %s belongs to %s, its payer %s to %s',
                              p.id, p.sender, coalesce(t.n, 0), t.amount, t.debit, t.credit, p.escrow, e.owner, p.refund_to, w.owner)
                from packet as p
                left join account as e on e.id = p.escrow
                left join account as w on w.id = p.refund_to
                -- Grouped, so that a join by hash is chosen.
                left join (select subject, count(*) as n, sum(amount) as amount, min(debit) as debit, min(credit) as credit
                           from other_transfer where kind = 'send' group by subject) as t on t.subject = p.id
                where (t.n, t.amount, t.debit, t.credit, e.owner, w.owner)
                      is distinct from (1, p.amount, p.refund_to, p.escrow, p.id::text, p.sender)
                """)
                    .since(Scope.PACKETS),
            new Check("I2", "only recipients have shares of an exclusive packet", """
                select format('packet %s: a share of %s, who is no recipient', id, owner)
                from (select p.id, w.owner
                      from packet as p
                      join transfer as t on t.subject = p.id and t.slot is not null
                      join account as w on w.id = t.credit
                      where p.recipients is not null
                      except
                      select id, unnest(recipients) from packet) as strangers
                """).since(Scope.PACKETS),
            new Check("I2", "every claim has the amount that its slot was given at creation", """
                -- [:] copies an array to memory once. Otherwise each claim reads it from its table. Hashed, since
                -- a merge join copies an array for each claim again when all of them do not fit into the memory of a sort.
                select format('packet %s slot %s: claimed %s, was %s', c.subject, c.slot, c.amount, b.amounts[c.slot % 1000 + 1])
                from (select packet, block, amounts[:] as amounts from packet_amounts offset 0) as b
                join transfer as c on c.subject = b.packet and c.slot / 1000 = b.block
                where c.amount <> b.amounts[c.slot % 1000 + 1]
                union all
                select format('packet %s has no slot %s', c.subject, c.slot)
                from transfer as c left join packet as p on p.id = c.subject
                where c.slot is not null and (p.id is null or c.slot >= p.count)
                """)
                    .since(Scope.PACKETS)
                    .hashed(),
            new Check("I2", "the amounts of a packet's slots add up to it", """
                select format('packet %s: %s slots of %s, %s of %s', p.id, a.slots, p.count, a.sum, p.amount)
                from packet as p
                left join (select b.packet, sum(cardinality(b.amounts)) as slots, sum(s.sum) as sum
                           from packet_amounts as b
                           cross join lateral (select sum(a) as sum from unnest(b.amounts) as a) as s
                           group by b.packet) as a on a.packet = p.id
                where a.slots is distinct from p.count or a.sum is distinct from p.amount
                """).since(Scope.PACKETS),
            new Check("I2", "slots are claimed in order, without gaps", """
                select format('packet %s: %s claims, highest slot %s', packet, claims, highest)
                from packet_claims where claims <> highest + 1
                """).since(Scope.PACKETS),
            new Check("I2", "an escrow counts its packet's claims", """
                -- 0 also for a packet closed before escrows counted claims.
                select format('packet %s: %s claims, its escrow counts %s', p.id, coalesce(c.claims, 0), e.claims)
                from packet as p
                join account as e on e.id = p.escrow
                left join packet_claims as c on c.packet = p.id
                where e.claims <> coalesce(c.claims, 0) and (p.closed_at is null or e.claims > 0)
                """).since(Scope.PACKETS),
            new Check("I3", "a transfer joins the accounts of its kind, one of which is its subject's own", """
                -- A reversal has a check of its own.
                select format('transfer %s of %s: a %s from the %s of %s to the %s of %s',
                              t.id, t.subject, t.kind, d.kind, d.owner, c.kind, c.owner)
                from transfer as t
                join account as d on d.id = t.debit
                join account as c on c.id = t.credit
                where case
                          when t.kind = 'deposit' then (d.kind, c.kind) <> ('source', 'wallet')
                          when t.kind = 'withdrawal' then (d.kind, c.kind) <> ('wallet', 'source')
                          when t.kind in ('claim', 'award') then (d.kind, c.kind, d.owner) <> ('escrow', 'wallet', t.subject::text)
                          when t.kind in ('return', 'proceeds') then (d.kind, c.kind, d.owner) <> ('hold', 'wallet', t.subject::text)
                          when t.kind = 'cost' then (d.kind, c.kind, c.owner) <> ('wallet', 'hold', t.subject::text)
                          when t.kind = 'fund' then (d.kind, c.kind, c.owner) <> ('wallet', 'escrow', t.subject::text)
                          -- A pool's other account is its campaign's escrow.
                          when t.kind = 'send' then d.kind not in ('wallet', 'escrow') or (c.kind, c.owner) <> ('escrow', t.subject::text)
                          when t.kind = 'refund' then c.kind not in ('wallet', 'escrow') or (d.kind, d.owner) <> ('escrow', t.subject::text)
                      end
                """)
                    .since(Scope.TRANSFERS),
            new Check("I3", "every escrow and hold belongs to a packet, a draw or a campaign", """
                -- Else money could pass from wallet to wallet through an escrow of nothing.
                select format('%s of %s in %s, account %s', a.kind, a.owner, a.asset, a.id)
                from (select *, case when owner ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then owner::uuid end as item
                      from account where kind in ('escrow', 'hold')) as a
                where not exists (select from packet as p where p.id = a.item and p.escrow = a.id)
                  and not exists (select from prize as z where z.draw = a.item and z.escrow = a.id)
                  and not exists (select from draw as d where d.id = a.item and d.hold = a.id)
                  and not exists (select from campaign as c where c.id = a.item and c.escrow = a.id)
                """)
                    .since(Scope.ACCOUNTS),
            new Check("I3", "every transfer joins two accounts of one asset with a positive amount", """
                select format('transfer %s of %s', t.id, t.subject)
                from transfer as t
                left join account as d on d.id = t.debit
                left join account as c on c.id = t.credit
                where d.asset is null or c.asset is null or d.asset <> c.asset or d.id = c.id
                   or t.amount <= 0 or t.amount >= 100000000000000
                """)
                    .since(Scope.TRANSFERS),
            new Check("I3", "every requested transfer has its command", """
                select format('transfer %s of %s', t.id, t.subject)
                from other_transfer as t left join command as c on c.id = t.subject
                where t.kind in ('deposit', 'withdrawal', 'send', 'fund', 'reversal') and c.id is null
                """).since(Scope.TRANSFERS),
            new Check("I4", "every balance is the sum of its transfers, also at the checkpoint", """
                -- An old transfer that changed with its balances differs from the sums at the checkpoint.
                select format('%s of %s in %s: balance %s, transfers %s; at the checkpoint %s, transfers up to it %s',
                              a.kind, a.owner, a.asset, a.balance, coalesce(s.sum, 0), coalesce(b.balance, 0), coalesce(s.before, 0))
                from account as a
                left join (select id, sum(amount) as sum,
                                  sum(amount) filter (where transfer <= (select summed from checkpoint)) as before
                           from (select credit as id, amount, id as transfer from transfer
                                 union all
                                 select debit, -amount, id from transfer) as sides
                           group by id) as s on s.id = a.id
                left join checkpoint_balance as b on b.account = a.id
                where (a.balance, coalesce(b.balance, 0)) is distinct from (coalesce(s.sum, 0), coalesce(s.before, 0))
                """),
            new Check("I4", "no wallet and no escrow is below 0", """
                select format('%s of %s in %s: %s', kind, owner, asset, balance)
                from account where kind <> 'source' and balance < 0
                """).since(Scope.ACCOUNTS),
            new Check("I4", "all balances of an asset add up to 0", """
                select format('%s: %s', asset, sum(balance)) from account group by asset having sum(balance) <> 0
                """),
            new Check(
                            "I8",
                            "a refund is one transfer to the account that paid, and only a packet with shares left has"
                                    + " one",
                            """
                            select format('packet %s: refund %s%s, transfers %s', p.id, p.refund, case when d.packet is not null then ' (due)' end,
                                          coalesce(t.sum, 0))
                            from packet as p
                            left join refund_due as d on d.packet = p.id
                            left join (select t.subject, sum(t.amount) as sum, count(*) as n, min(t.credit) as credit
                                       from other_transfer as t
                                       where t.kind = 'refund' group by t.subject) as t on t.subject = p.id
                            left join packet_claims as c on c.packet = p.id
                            where case when d.packet is null then p.refund else 0 end <> coalesce(t.sum, 0) or t.n > 1 or t.credit <> p.refund_to
                               or (p.closed_at is not null and p.refund = 0 and p.count is distinct from c.claims)
                            """)
                    .since(Scope.PACKETS),
            new Check("I8", "a refund is due of a closed packet, to the account that paid", """
                select format('packet %s: a refund is due to account %s', d.packet, d.refund_to)
                from refund_due as d left join packet as p on p.id = d.packet and p.closed_at is not null
                where p.refund > 0 is not true or (d.refund_to, d.shard) is distinct from (p.refund_to, p.shard)
                """).since(Scope.WHOLE),
            new Check("I8", "no refund waits long for the account that paid", Severity.HEALS, """
                select format('packet %s: its refund is due to account %s since %s', packet, refund_to, at)
                from refund_due where at < now() - interval '10 seconds'
                """).since(Scope.WHOLE),
            new Check("I8", "a packet is refunded before its time only when the host's backend asked for it", """
                select format('packet %s: refunded at %s, expires at %s, not ended early', id, closed_at, expires_at)
                from packet
                -- To the minute, as the settlement checks it.
                where refund > 0 and ending is null and closed_at < expires_at - interval '1 minute'
                """)
                    .since(Scope.PACKETS),
            new Check("I8", "no claim was settled before its packet's opening or after its close", """
                -- The end by the order of transfers: a Postgres with another clock may have closed the packet.
                select format('packet %s: claims from %s on, open from %s on; the last is transfer %s, the refund transfer %s',
                              p.id, c.first_at, p.opens_at, c.last, r.id)
                from packet_claims as c join packet as p on p.id = c.packet
                left join other_transfer as r on r.subject = p.id and r.kind = 'refund'
                -- To the minute, as the settlement checks it.
                where c.last > r.id or not is_open_at(p.opens_at, p.created_at, c.first_at + interval '1 minute')
                """)
                    .since(Scope.PACKETS),
            new Check("I11", "no packet stays open after its time", Severity.HEALS, """
                select format('packet %s is open and was due at %s', p.id, p.expires_at)
                from shard as s
                cross join lateral (select id, expires_at from packet
                                    where shard = s.id and closed_at is null and expires_at < now() - interval '10 seconds') as p
                where not exists (select from quarantine_unit as q where q.id = p.id)
                """).since(Scope.WHOLE),
            new Check("I15", "no packet and no draw is set aside, see `hongbao quarantine`", Severity.QUARANTINED, """
                select format('%s %s of shard %s, since %s: %s %s; entries that wait: %s',
                              q.kind, q.id, q.shard, q.since, q.sqlstate, q.reason,
                              (select count(*) from quarantine as e where e.unit = q.id))
                from quarantine_unit as q order by q.since
                """)
                    .since(Scope.WHOLE),
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

    /** For commands, reversals and the audit log. */
    static final List<Check> COMMANDS = List.of(
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

    private LedgerChecks() {}
}

package dev.hongbao.web.http;

import dev.hongbao.domain.books.Books;
import dev.hongbao.domain.draw.DrawFiles;
import dev.hongbao.domain.ledger.Assets;
import dev.hongbao.domain.ledger.CommandBook;
import dev.hongbao.domain.ledger.Deposits;
import dev.hongbao.domain.ledger.Reversals;
import dev.hongbao.domain.outbox.OutboxReader;
import dev.hongbao.domain.packet.EarlyCloser;
import dev.hongbao.domain.packet.PacketFiles;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.domain.restriction.Revocations;
import dev.hongbao.domain.trail.AuditLog;
import dev.hongbao.domain.trail.AuditReader;
import dev.hongbao.domain.webhook.Webhooks;
import dev.hongbao.web.webhook.WebhookProbe;

/** What the routes call for the host application above all. All but what support is given may be shared. */
public record HostServices(
        OutboxReader outbox, Webhooks webhooks, WebhookProbe webhookProbe, Money money, Trail trail, Support support) {
    /** What there is of money, whose it is, who may not move it, and whose tokens are void. */
    public record Money(Assets assets, Books books, Restrictions restrictions, Revocations revocations) {}

    /** What is kept for those who ask who did what. @param log into which calls are written */
    public record Trail(CommandBook commands, Reversals reversals, AuditLog log, AuditReader reader) {}

    /** What support and those who run a campaign need. @param closing of this event loop only; the others may be shared */
    public record Support(PacketFiles packets, EarlyCloser closing, DrawFiles draws, Deposits deposits) {}
}

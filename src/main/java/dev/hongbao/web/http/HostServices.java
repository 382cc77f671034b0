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

/** Services mainly for the host application's calls. All may be shared, except in {@link Support}. */
public record HostServices(
        OutboxReader outbox, Webhooks webhooks, WebhookProbe webhookProbe, Money money, Trail trail, Support support) {
    /** Assets, books, blocked users and wallets, and revoked tokens. */
    public record Money(Assets assets, Books books, Restrictions restrictions, Revocations revocations) {}

    /** The records of who did what. @param log records calls */
    public record Trail(CommandBook commands, Reversals reversals, AuditLog log, AuditReader reader) {}

    /** Services for support and campaign staff. @param closing of this event loop only; the others may be shared */
    public record Support(PacketFiles packets, EarlyCloser closing, DrawFiles draws, Deposits deposits) {}
}

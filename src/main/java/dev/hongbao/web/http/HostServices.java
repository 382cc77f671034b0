package dev.hongbao.web.http;

import dev.hongbao.domain.ledger.Assets;
import dev.hongbao.domain.outbox.OutboxReader;
import dev.hongbao.domain.webhook.Webhooks;

/** What the routes call for the host application above all. All may be shared. */
public record HostServices(OutboxReader outbox, Webhooks webhooks, Assets assets) {}

package dev.hongbao.web.http;

import dev.hongbao.domain.outbox.OutboxReader;
import dev.hongbao.domain.webhook.Webhooks;

/** What the routes call for the host application alone. Both may be shared. */
public record HostServices(OutboxReader outbox, Webhooks webhooks) {}

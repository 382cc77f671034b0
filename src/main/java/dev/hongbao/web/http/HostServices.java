package dev.hongbao.web.http;

import dev.hongbao.domain.outbox.OutboxReader;

/**
 * What the routes call for the host application alone.
 *
 * @param outbox may be shared
 */
public record HostServices(OutboxReader outbox) {}

package dev.hongbao.domain.outbox;

import java.util.List;

/** The types of events in the outbox, as its rows and the contract name them. */
public final class OutboxTypes {
    public static final List<String> ALL = List.of(
            "packet.sent",
            "packet.drained",
            "packet.expired",
            "packet.refunded",
            "claim.settled",
            "play.settled",
            "draw.opened",
            "draw.closed",
            "fulfilment.changed",
            "campaign.created",
            "campaign.raised",
            "campaign.paused",
            "campaign.resumed",
            "campaign.ended",
            "rain.created",
            "rain.ended",
            "transfer.deposit",
            "transfer.withdrawal",
            "transfer.cost",
            "transfer.return",
            "transfer.reversal",
            "user.frozen",
            "user.unfrozen",
            "user.blocked",
            "user.unblocked",
            "group.blocked",
            "group.unblocked");

    private OutboxTypes() {}
}

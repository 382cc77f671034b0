package dev.hongbao.domain.packet;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.split.SplitAlgorithm;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The wish to send a packet, well-formed but not yet checked against the rules of {@link PacketService#send}.
 *
 * @param amount total, minor units
 * @param count number of shares
 * @param min smallest share, null for 1
 * @param max largest share, null for no limit of its own
 * @param split null for the kind's default: {@code double-mean}, or {@code equal} for an equal packet
 * @param greeting null for none
 * @param recipients who may claim an exclusive packet; empty for the other kinds
 * @param passcode the 口令 a claimer must give; null for none
 * @param opensAt null for at once
 * @param expiresIn counted from {@code opensAt}, or from the sending; null for the configured default (24 h)
 */
public record SendCommand(
        GroupId group,
        PacketKind kind,
        Asset asset,
        long amount,
        int count,
        @Nullable Long min,
        @Nullable Long max,
        @Nullable SplitAlgorithm split,
        @Nullable String greeting,
        List<UserId> recipients,
        @Nullable String passcode,
        @Nullable Instant opensAt,
        @Nullable Duration expiresIn) {
    public SendCommand {
        recipients = List.copyOf(recipients);
    }
}

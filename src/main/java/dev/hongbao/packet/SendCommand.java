package dev.hongbao.packet;

import dev.hongbao.ledger.Origin.Note;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.values.Asset;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A well-formed request to send a packet, not yet checked against the rules of {@link PacketService#send}.
 *
 * @param amount total, minor units
 * @param count number of shares
 * @param min smallest share, null for 1
 * @param max largest share, null for no limit of its own
 * @param split null for the kind's default: {@code double-mean}, or {@code equal} for an equal packet
 * @param greeting null for none
 * @param recipients of an exclusive packet; empty for the other kinds
 * @param passcode the 口令 for its claimers; null for none
 * @param opensAt null for now
 * @param expiresIn counted from {@code opensAt}, or from the send; null for the configured default (24 h)
 * @param pool the paying campaign and the product; null when the sender's wallet pays
 * @param note of the host application's backend; empty from other callers
 * @param metadata of the caller
 * @param onBehalfOf the sender, when the host's backend sends for a user; null when the caller is the sender
 */
public record SendCommand(
        GroupId group,
        Packet.Kind kind,
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
        @Nullable Duration expiresIn,
        @Nullable PoolTerms pool,
        Note note,
        Metadata metadata,
        @Nullable UserId onBehalfOf) {
    public SendCommand {
        recipients = List.copyOf(recipients);
    }

    /** All fields in one unambiguous text, equal for all repetitions. An opening's text lacks the amount, which may be drawn. */
    String wish() {
        JsonText json = new JsonText(512).beginObject();
        if (pool != null) {
            json.text("campaign", pool.campaign()).field("product", pool.product());
        } else {
            json.text("kind", kind)
                    .text("asset", asset)
                    .field("amount", amount)
                    .field("count", count)
                    .text("min", min)
                    .text("max", max)
                    .text("split", split)
                    .field("greeting", greeting)
                    .items("recipients", recipients, (list, user) -> list.plain(user.value()))
                    .field("passcode", passcode)
                    .text("opensAt", opensAt)
                    .text("expiresIn", expiresIn)
                    .field("reference", note.reference())
                    .field("reason", note.reason())
                    .text("onBehalfOf", onBehalfOf);
        }
        return json.plain("group", group.value())
                .name("metadata")
                .raw(metadata.json())
                .endObject()
                .toString();
    }

    /** Starts with the mandatory fields. All others have their defaults. */
    public static Builder of(GroupId group, Packet.Kind kind, Asset asset, long amount, int count) {
        return new Builder(group, kind, asset, amount, count);
    }

    /** Builds a command field by field. Null stands for the default, as in {@link SendCommand}. */
    public static final class Builder {
        private final GroupId group;
        private final Packet.Kind kind;
        private final Asset asset;
        private final long amount;
        private final int count;
        private @Nullable Long min;
        private @Nullable Long max;
        private @Nullable SplitAlgorithm split;
        private @Nullable String greeting;
        private List<UserId> recipients = List.of();
        private @Nullable String passcode;
        private @Nullable Instant opensAt;
        private @Nullable Duration expiresIn;
        private @Nullable PoolTerms pool;
        private Note note = Note.NONE;
        private Metadata metadata = Metadata.NONE;
        private @Nullable UserId onBehalfOf;

        private Builder(GroupId group, Packet.Kind kind, Asset asset, long amount, int count) {
            this.group = group;
            this.kind = kind;
            this.asset = asset;
            this.amount = amount;
            this.count = count;
        }

        public Builder shares(@Nullable Long smallest, @Nullable Long largest) {
            this.min = smallest;
            this.max = largest;
            return this;
        }

        public Builder split(@Nullable SplitAlgorithm algorithm) {
            this.split = algorithm;
            return this;
        }

        public Builder greeting(@Nullable String text) {
            this.greeting = text;
            return this;
        }

        public Builder recipients(List<UserId> users) {
            this.recipients = users;
            return this;
        }

        public Builder passcode(@Nullable String text) {
            this.passcode = text;
            return this;
        }

        public Builder opensAt(@Nullable Instant moment) {
            this.opensAt = moment;
            return this;
        }

        public Builder expiresIn(@Nullable Duration time) {
            this.expiresIn = time;
            return this;
        }

        public Builder pool(PoolTerms terms) {
            this.pool = terms;
            return this;
        }

        public Builder note(Note written) {
            this.note = written;
            return this;
        }

        public Builder metadata(Metadata words) {
            this.metadata = words;
            return this;
        }

        public Builder onBehalfOf(@Nullable UserId sender) {
            this.onBehalfOf = sender;
            return this;
        }

        public SendCommand build() {
            return new SendCommand(
                    group,
                    kind,
                    asset,
                    amount,
                    count,
                    min,
                    max,
                    split,
                    greeting,
                    recipients,
                    passcode,
                    opensAt,
                    expiresIn,
                    pool,
                    note,
                    metadata,
                    onBehalfOf);
        }
    }
}

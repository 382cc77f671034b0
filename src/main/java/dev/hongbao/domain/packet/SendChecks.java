package dev.hongbao.domain.packet;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.Role;
import dev.hongbao.domain.ledger.AssetTerms;
import dev.hongbao.domain.ledger.Assets;
import dev.hongbao.domain.split.SplitAlgorithm;
import dev.hongbao.domain.split.SplitTerms;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/** Checks of a send that need no store. Thread-safe. */
final class SendChecks {
    private final Assets assets;
    private final PacketService.Limits limits;
    private final Clock clock;

    /** @param clock only for refusing a late opening; Postgres' clock decides what is due */
    SendChecks(Assets assets, PacketService.Limits limits, Clock clock) {
        this.assets = assets;
        this.limits = limits;
        this.clock = clock;
    }

    PacketService.Limits limits() {
        return limits;
    }

    /** The time from opening to expiry. */
    Duration expiresIn(SendCommand command) {
        return Objects.requireNonNullElse(command.expiresIn(), limits.defaultExpiry());
    }

    /** Whether the caller may send this asset. The asset exists. */
    boolean maySend(Caller caller, SendCommand command) {
        AssetTerms terms = assets.cached(command.asset());
        return command.pool() != null
                || caller.role() == Role.SERVICE
                || (terms != null && terms.senders() == AssetTerms.Senders.EVERYBODY);
    }

    static RefusedException notSent(SendCommand command) {
        return new RefusedException(
                Refusal.NOT_ELIGIBLE, Reason.ROLE, Text.of("send.only-backend-sends", command.asset()));
    }

    /**
     * Throws the first refusal.
     *
     * @return the split of the amount
     */
    SplitAlgorithm check(Caller caller, SendCommand command) {
        boolean onBehalf = command.onBehalfOf() != null;
        if (onBehalf ? caller.role() != Role.SERVICE : !caller.isMemberOf(command.group())) {
            throw new RefusedException(
                    Refusal.NOT_ELIGIBLE, onBehalf ? Reason.ROLE : Reason.GROUP, Text.of("send.other-group"));
        }
        if (!command.note().isEmpty() && caller.role() != Role.SERVICE) {
            throw new RefusedException(Refusal.NOT_ELIGIBLE, Reason.ROLE, Text.of("send.only-backend-notes"));
        }
        require(!command.group().isChannel(), Reason.GROUP, Text.of("send.rain-channel"));
        require(command.count() <= limits.maxCount(), Reason.COUNT, Text.of("send.too-many-shares", limits.maxCount()));
        SplitAlgorithm fallback =
                command.kind() == PacketKind.EQUAL ? SplitAlgorithm.EQUAL : SplitAlgorithm.DOUBLE_MEAN;
        SplitAlgorithm algorithm = Objects.requireNonNullElse(command.split(), fallback);
        require(
                command.kind() != PacketKind.EQUAL || algorithm == SplitAlgorithm.EQUAL,
                Reason.SPLIT,
                Text.of("send.equal-split"));
        require(
                command.kind() != PacketKind.LUCKY || algorithm != SplitAlgorithm.EQUAL,
                Reason.SPLIT,
                Text.of("send.lucky-split"));
        boolean exclusive = command.kind() == PacketKind.EXCLUSIVE;
        require(
                exclusive == !command.recipients().isEmpty(),
                Reason.RECIPIENTS,
                exclusive ? Text.of("send.no-recipients") : Text.of("send.recipients"));
        require(
                !exclusive
                        || command.count()
                                <= command.recipients().stream().distinct().count(),
                Reason.RECIPIENTS,
                Text.of("send.too-few-recipients"));
        require(
                command.passcode() == null || Passcode.isSeen(command.passcode()),
                Reason.PASSCODE,
                Text.of("send.passcode-unseen"));
        Duration expiresIn = expiresIn(command);
        require(
                expiresIn.compareTo(limits.maxExpiry()) <= 0 && !expiresIn.isNegative() && !expiresIn.isZero(),
                Reason.EXPIRY,
                Text.of("send.expires-late", limits.maxExpiry().toSeconds()));
        Instant opensAt = command.opensAt();
        require(
                opensAt == null || opensAt.isBefore(clock.instant().plus(limits.maxExpiry())),
                Reason.OPENING,
                Text.of("send.opens-late", limits.maxExpiry().toSeconds()));
        Text reason = SplitTerms.infeasible(algorithm, command.amount(), command.count(), command.min(), command.max());
        if (reason != null) {
            throw new RefusedException(Refusal.INFEASIBLE, Reason.AMOUNT, reason);
        }
        return algorithm;
    }

    private static void require(boolean kept, Reason reason, Text rule) {
        if (!kept) {
            throw new RefusedException(Refusal.INFEASIBLE, reason, rule);
        }
    }
}

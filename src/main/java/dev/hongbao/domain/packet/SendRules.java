package dev.hongbao.domain.packet;

import dev.hongbao.common.values.Caller;
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

/** What of a wish to send is refused before any store is asked. Thread-safe. */
final class SendRules {
    private final Assets assets;
    private final PacketService.Limits limits;
    private final Clock clock;

    /** @param clock only for refusing what opens too late; what is due is decided by Postgres' clock */
    SendRules(Assets assets, PacketService.Limits limits, Clock clock) {
        this.assets = assets;
        this.limits = limits;
        this.clock = clock;
    }

    PacketService.Limits limits() {
        return limits;
    }

    /** How long a packet can be claimed. */
    Duration expiresIn(SendCommand command) {
        return Objects.requireNonNullElse(command.expiresIn(), limits.defaultExpiry());
    }

    /** Whether the asset, which is known by now, is one that the caller may send. */
    boolean maySend(Caller caller, SendCommand command) {
        AssetTerms terms = assets.cached(command.asset());
        return command.pool() != null
                || caller.role() == Role.SERVICE
                || (terms != null && terms.senders() == AssetTerms.Senders.EVERYBODY);
    }

    static RefusedException notSent(SendCommand command) {
        return new RefusedException(
                Refusal.NOT_ELIGIBLE, "Only the host application's backend sends " + command.asset() + ".");
    }

    /** Throws the refusal of the first rule that is broken. @return how the amount is split */
    SplitAlgorithm check(Caller caller, SendCommand command) {
        boolean onBehalf = command.onBehalfOf() != null;
        if (onBehalf ? caller.role() != Role.SERVICE : !caller.isMemberOf(command.group())) {
            throw new RefusedException(
                    Refusal.NOT_ELIGIBLE, "You can send only into the groups that your token names, and for yourself.");
        }
        if (!command.note().isEmpty() && caller.role() != Role.SERVICE) {
            throw new RefusedException(
                    Refusal.NOT_ELIGIBLE, "Only the host application's backend notes a reference or a reason.");
        }
        require(!command.group().isChannel(), "Nobody sends into the channel of a rain.");
        require(command.count() <= limits.maxCount(), "A packet has at most " + limits.maxCount() + " shares.");
        SplitAlgorithm fallback =
                command.kind() == PacketKind.EQUAL ? SplitAlgorithm.EQUAL : SplitAlgorithm.DOUBLE_MEAN;
        SplitAlgorithm algorithm = Objects.requireNonNullElse(command.split(), fallback);
        require(
                command.kind() != PacketKind.EQUAL || algorithm == SplitAlgorithm.EQUAL,
                "An equal packet is split `equal`; leave `split` out or choose kind `lucky`.");
        require(
                command.kind() != PacketKind.LUCKY || algorithm != SplitAlgorithm.EQUAL,
                "A lucky packet is split at random; choose kind `equal` for equal shares.");
        boolean exclusive = command.kind() == PacketKind.EXCLUSIVE;
        require(
                exclusive == !command.recipients().isEmpty(),
                exclusive ? "An exclusive packet names its recipients." : "Only an exclusive packet names recipients.");
        require(
                !exclusive
                        || command.count()
                                <= command.recipients().stream().distinct().count(),
                "An exclusive packet has at most as many shares as recipients.");
        Duration expiresIn = expiresIn(command);
        require(
                expiresIn.compareTo(limits.maxExpiry()) <= 0 && !expiresIn.isNegative() && !expiresIn.isZero(),
                "A packet expires within " + limits.maxExpiry().toSeconds() + " seconds.");
        Instant opensAt = command.opensAt();
        require(
                opensAt == null || opensAt.isBefore(clock.instant().plus(limits.maxExpiry())),
                "A packet opens within " + limits.maxExpiry().toSeconds() + " seconds from now.");
        String reason =
                SplitTerms.infeasible(algorithm, command.amount(), command.count(), command.min(), command.max());
        if (reason != null) {
            throw new RefusedException(Refusal.INFEASIBLE, reason);
        }
        return algorithm;
    }

    private static void require(boolean kept, String rule) {
        if (!kept) {
            throw new RefusedException(Refusal.INFEASIBLE, rule);
        }
    }
}

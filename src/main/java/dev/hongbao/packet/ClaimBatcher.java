package dev.hongbao.packet;

import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.ScriptBatcher;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.packet.Claim.AcceptedClaims;
import dev.hongbao.packet.ClaimService.ClaimMetrics;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Batches claims into calls of {@code claim.lua}. One instance per event loop, used on it only. */
final class ClaimBatcher {
    /** The index of the first packet's key in the script. The journal's key precedes it. */
    private static final int FIRST_PACKET = 2;

    private final ScriptBatcher<Submission, Answer> batcher;
    private final int maxJournalEntries;
    private final Clock clock;

    ClaimBatcher(Attempts attempts, ClaimMetrics metrics) {
        this.maxJournalEntries = attempts.limits().maxJournalEntries();
        this.clock = attempts.clock(); // gives the day, for the limits of campaigns
        this.batcher = new ScriptBatcher<>(
                attempts, Text.of("noun.claims"), metrics.batchSize, each -> new ClaimScriptCall(each).call());
    }

    /** The script's result for one claim. */
    enum Verdict {
        /** Won in this call. */
        GIVEN,
        /** The user already holds a slot. */
        HELD,
        DRAINED,
        CLOSED,
        /** The user has as many shares as the campaign allows one user in all. */
        LIMITED_IN_ALL,
        LIMITED_TODAY,
        /** The user has as many shares as the campaign allows for the pool's product. */
        LIMITED_BY_PRODUCT,
        /** Redis lacks the counts of the packet's campaign. */
        UNCOUNTED,
        /** Redis lacks the packet. */
        MISSING
    }

    /**
     * The script's answer.
     *
     * @param slot for GIVEN and HELD, else -1
     * @param generation of the script
     */
    record Answer(Verdict verdict, int slot, Generation generation) {}

    /** A claim waiting for the script. */
    static final class Submission extends ScriptBatcher.Item<Answer> {
        private final Packet packet;
        private final UserId user;
        private final boolean asks;

        /** @param asks true to read the user's slot only, without a claim */
        Submission(Packet packet, UserId user, boolean asks, long deadlineNanos) {
            super(deadlineNanos);
            this.packet = packet;
            this.user = user;
            this.asks = asks;
        }

        /** The packet as the script sees it. Zero slots give none. */
        Slots slots() {
            return new Slots(packet.id(), asks ? 0 : packet.count());
        }
    }

    private record Slots(PacketId packet, int count) {}

    /** Puts a claim into the next batch; see {@link ScriptBatcher#submit}. */
    Future<Answer> submit(Packet packet, UserId user, long deadlineNanos) {
        return batcher.submit(packet.shard(), new Submission(packet, user, false, deadlineNanos));
    }

    /** As {@link #submit}, but gives nothing. HELD for a user with a slot, settled or not. */
    Future<Answer> ask(Packet packet, UserId user, long deadlineNanos) {
        return batcher.submit(packet.shard(), new Submission(packet, user, true, deadlineNanos));
    }

    /** The number of claims waiting for the script. */
    int waiting() {
        return batcher.waiting();
    }

    /** As {@link ScriptBatcher#isUnanswered}. */
    boolean isUnanswered() {
        return batcher.isUnanswered();
    }

    /** One call for claims on any packets of a shard. */
    final class ClaimScriptCall {
        private final List<Submission> submissions;
        /**
         * Indexes into {@code submissions}, by packet id, with reads apart from claims. By id, since the same packet as two objects would
         * be two keys that get the same slots.
         */
        private final Map<Slots, List<Integer>> byPacket = new LinkedHashMap<>();

        /** The key index of each campaign that counts claims. */
        private final Map<UUID, Integer> campaigns = new LinkedHashMap<>();

        ClaimScriptCall(List<Submission> submissions) {
            this.submissions = submissions;
            for (int i = 0; i < submissions.size(); i++) {
                byPacket.computeIfAbsent(submissions.get(i).slots(), packet -> new ArrayList<>())
                        .add(i);
            }
            for (List<Integer> places : byPacket.values()) {
                PoolTerms pool = counting(places);
                if (pool != null) {
                    campaigns.putIfAbsent(pool.campaign(), FIRST_PACKET + byPacket.size() + campaigns.size());
                }
            }
        }

        /** The campaign that counts claims on a packet; null for none. A read counts nothing. */
        private @Nullable PoolTerms counting(List<Integer> places) {
            Submission first = submissions.get(places.get(0));
            PoolTerms pool = first.asks ? null : first.packet.pool();
            return pool != null && pool.claiming().limits().any() ? pool : null;
        }

        ShardScript.Call<List<Answer>> call() {
            return new ShardScript.Call<>("claim", byPacket.size() + campaigns.size(), this::write, this::read);
        }

        private void write(Generation generation, Request call) {
            for (Slots slots : byPacket.keySet()) {
                call.arg(PacketKeys.hash(generation, slots.packet));
            }
            campaigns.keySet().forEach(campaign -> call.arg(PacketKeys.campaign(generation, campaign)));
            call.arg(maxJournalEntries).arg(byPacket.size());
            byPacket.forEach((slots, places) -> {
                call.arg(slots.packet.toString()).arg(slots.count).arg(places.size());
                count(call, counting(places));
                for (int place : places) {
                    call.arg(submissions.get(place).user.inRedis());
                }
            });
        }

        private void count(Request call, @Nullable PoolTerms pool) {
            if (pool == null) {
                call.arg(0);
                return;
            }
            PoolTerms.Limits limits = pool.claiming().limits();
            call.arg(Objects.requireNonNull(campaigns.get(pool.campaign())))
                    .arg(limits.total())
                    .arg(limits.aDay())
                    .arg(limits.aProduct())
                    .arg(pool.claiming().dayOf(clock.instant()))
                    .arg(pool.product());
        }

        private ShardScript.Reply<List<Answer>> read(Generation generation, Response reply) {
            String words = reply.get(1).toString(StandardCharsets.US_ASCII);
            int begin = 0;
            Answer[] answers = new Answer[submissions.size()];
            List<AcceptedClaims> accepted = new ArrayList<>();
            for (Map.Entry<Slots, List<Integer>> entry : byPacket.entrySet()) {
                List<UserId> winners = new ArrayList<>(entry.getValue().size());
                int firstSlot = -1;
                for (int place : entry.getValue()) {
                    int space = words.indexOf(' ', begin);
                    int end = space < 0 ? words.length() : space;
                    Answer answer = answer(words, begin, end, generation);
                    begin = end + 1;
                    answers[place] = answer;
                    if (answer.verdict == Verdict.GIVEN) {
                        firstSlot = winners.isEmpty() ? answer.slot : firstSlot;
                        winners.add(submissions.get(place).user);
                    }
                }
                if (!winners.isEmpty()) {
                    accepted.add(new AcceptedClaims(entry.getKey().packet, firstSlot, winners));
                }
            }
            return new ShardScript.Reply<>(Arrays.asList(answers), accepted, List.of());
        }

        private static Answer answer(String words, int begin, int end, Generation generation) {
            Verdict verdict = switch (words.charAt(begin)) {
                case '+' -> Verdict.GIVEN;
                case '=' -> Verdict.HELD;
                case 'd' -> Verdict.DRAINED;
                case 'c' -> Verdict.CLOSED;
                case 't' -> Verdict.LIMITED_IN_ALL;
                case 'l' -> Verdict.LIMITED_TODAY;
                case 'p' -> Verdict.LIMITED_BY_PRODUCT;
                case 'u' -> Verdict.UNCOUNTED;
                default -> Verdict.MISSING;
            };
            boolean hasSlot = verdict == Verdict.GIVEN || verdict == Verdict.HELD;
            return new Answer(verdict, hasSlot ? Integer.parseInt(words, begin + 1, end, 10) : -1, generation);
        }
    }
}

package dev.hongbao.domain.claim;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.packet.PacketKeys;
import dev.hongbao.domain.packet.PoolTerms;
import dev.hongbao.engine.journal.AttemptSettings;
import dev.hongbao.engine.journal.ScriptBatcher;
import dev.hongbao.engine.journal.ShardScript;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
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
    private final AttemptSettings settings;
    private final Clock clock;

    /** @param clock gives the day, for the limits of campaigns */
    ClaimBatcher(
            Vertx vertx, RedisLinks redis, Shards shards, AttemptSettings settings, ClaimMetrics metrics, Clock clock) {
        this.settings = settings;
        this.clock = clock;
        this.batcher = new ScriptBatcher<>(
                vertx,
                redis,
                shards,
                new ScriptBatcher.Settings<>(
                        Text.of("noun.claims"),
                        settings.batchSize(),
                        submission -> 1,
                        settings.maxQueued(),
                        metrics::batch),
                ClaimScriptCall::new);
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

    /**
     * A claim waiting for the script.
     *
     * @param asks true to read the user's slot only, without a claim
     */
    record Submission(Packet packet, UserId user, boolean asks) {
        /** The packet as the script sees it. Zero slots give none. */
        Slots slots() {
            return new Slots(packet.id(), asks ? 0 : packet.count());
        }
    }

    private record Slots(PacketId packet, int count) {}

    /** Puts a claim into the next batch; see {@link ScriptBatcher#submit}. */
    Future<Answer> submit(Packet packet, UserId user, long deadlineNanos) {
        return batcher.submit(packet.shard(), new Submission(packet, user, false), deadlineNanos);
    }

    /** As {@link #submit}, but gives nothing. HELD for a user with a slot, settled or not. */
    Future<Answer> ask(Packet packet, UserId user, long deadlineNanos) {
        return batcher.submit(packet.shard(), new Submission(packet, user, true), deadlineNanos);
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
    final class ClaimScriptCall implements ShardScript.Call<List<Answer>> {
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

        @Override
        public String script() {
            return "claim";
        }

        @Override
        public int keys() {
            return byPacket.size() + campaigns.size();
        }

        @Override
        public void write(Generation generation, Request call) {
            for (Slots slots : byPacket.keySet()) {
                call.arg(PacketKeys.hash(generation, slots.packet));
            }
            campaigns.keySet().forEach(campaign -> call.arg(PacketKeys.campaign(generation, campaign)));
            call.arg(settings.maxJournalEntries()).arg(byPacket.size());
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

        @Override
        public ShardScript.Reply<List<Answer>> read(Generation generation, Response reply) {
            Outcomes outcomes = new Outcomes(reply.get(1).toString(StandardCharsets.US_ASCII), generation);
            Answer[] answers = new Answer[submissions.size()];
            List<AcceptedClaims> accepted = new ArrayList<>();
            for (Map.Entry<Slots, List<Integer>> entry : byPacket.entrySet()) {
                List<UserId> winners = new ArrayList<>(entry.getValue().size());
                int firstSlot = -1;
                for (int place : entry.getValue()) {
                    Answer answer = outcomes.next();
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
    }

    /** Reads the words of the script's answer, in order. */
    private static final class Outcomes {
        private final String words;
        private final Generation generation;
        private int at;

        Outcomes(String words, Generation generation) {
            this.words = words;
            this.generation = generation;
        }

        Answer next() {
            int begin = at;
            int space = words.indexOf(' ', begin);
            int end = space < 0 ? words.length() : space;
            at = end + 1;
            return switch (words.charAt(begin)) {
                case '+' -> new Answer(Verdict.GIVEN, Integer.parseInt(words, begin + 1, end, 10), generation);
                case '=' -> new Answer(Verdict.HELD, Integer.parseInt(words, begin + 1, end, 10), generation);
                case 'd' -> new Answer(Verdict.DRAINED, -1, generation);
                case 'c' -> new Answer(Verdict.CLOSED, -1, generation);
                case 't' -> new Answer(Verdict.LIMITED_IN_ALL, -1, generation);
                case 'l' -> new Answer(Verdict.LIMITED_TODAY, -1, generation);
                case 'p' -> new Answer(Verdict.LIMITED_BY_PRODUCT, -1, generation);
                case 'u' -> new Answer(Verdict.UNCOUNTED, -1, generation);
                default -> new Answer(Verdict.MISSING, -1, generation);
            };
        }
    }
}

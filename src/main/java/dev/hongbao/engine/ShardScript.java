package dev.hongbao.engine;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Shards.Symptom;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the fenced scripts of a shard. All their calls pass here, so each is followed up in one way:
 * <ul>
 * <li>the script's journal entry is published on the event bus if this server owns the shard; if not, the owner gets a message
 * that an entry exists;
 * <li>a key that Redis lacks is reported to the owner;
 * <li>NOSCRIPT and NO_JOURNAL are reported: recovery has not prepared this generation in this Redis, or has ended it. The
 * script changed nothing. If the generation is current and NOSCRIPT stays, the link may lead to a Redis from before a failover: see
 * {@link RedisLink#leaveIfOutdated};
 * <li>an impossible error is reported as a fault: the script may have failed between two writes, and the owner recovers the
 * shard.
 * </ul>
 * One instance per event loop, used on it only.
 */
public final class ShardScript {
    private static final Logger LOG = LoggerFactory.getLogger(ShardScript.class);

    /** Between two reports of one symptom: the owner needs one report, but the first may get lost. */
    private static final long REPORT_NANOS = 200_000_000;

    /** From the first NOSCRIPT of a current generation until the link is doubted. Most recoveries take less. */
    private static final long DOUBT_NANOS = 1_000_000_000;

    private final Loop loop;
    private final Shards shards;
    private final Map<Generation, Long> firstMissedNanos = new HashMap<>();
    private final Map<Broken, Long> reportedNanos = new HashMap<>();

    public ShardScript(Loop loop, Shards shards) {
        this.loop = loop;
        this.shards = shards;
    }

    /**
     * One call of a script. It is written again, maybe for another generation, when it is repeated.
     *
     * @param <R> the script's answer
     * @param script its name: {@code lua/<name>.lua}
     * @param keys the number of keys that {@code write} adds
     * @param write adds the keys that follow the journal's, then the arguments
     * @param read parses the reply
     */
    public record Call<R>(
            String script,
            int keys,
            BiConsumer<Generation, Request> write,
            BiFunction<Generation, Response, Reply<R>> read) {}

    /**
     * A parsed reply of a script.
     *
     * @param answer for the caller
     * @param accepted the items of the journal entry that the script wrote, in its order; empty if it wrote none. The entry's
     *     number is the reply's first element
     * @param missing keys that Redis lacks though their packets or draws are open
     */
    public record Reply<R>(R answer, List<? extends JournalItem> accepted, List<String> missing) {
        /** The reply of a script that writes no journal entry. */
        public static <R> Reply<R> of(R answer) {
            return new Reply<>(answer, List.of(), List.of());
        }
    }

    private record Broken(Generation generation, Symptom symptom) {}

    /**
     * Calls a script in a generation of its shard.
     *
     * @return the answer; fails with {@link RedisFault} after the report to the shard's owner. Does not wait for the owner
     */
    public <R> Future<R> call(RedisLink redis, Shards.Shard shard, Call<R> call) {
        Generation generation = shard.generation();
        long sentNanos = loop.nanos();
        return redis.send(request(shard, call)).transform(done -> {
            shards.scriptTook(call.script(), loop.nanos() - sentNanos);
            if (done.succeeded()) {
                return Future.succeededFuture(
                        answer(generation, done.result(), call.read.apply(generation, done.result())));
            }
            report(generation, call, done.cause());
            if (RedisFault.is(done.cause(), RedisFault.Kind.NO_SCRIPT)) {
                doubt(redis, shard);
            }
            return Future.failedFuture(done.cause());
        });
    }

    /**
     * The generation is current in Postgres, but its scripts have been missing for some time. Maybe recovery prepared it in a
     * Redis that this link does not lead to, so its owner finds nothing wrong.
     */
    private void doubt(RedisLink redis, Shards.Shard shard) {
        long now = loop.nanos();
        firstMissedNanos
                .keySet()
                .removeIf(generation ->
                        !shards.current(generation.shard()).generation().equals(generation));
        Long first = firstMissedNanos.putIfAbsent(shard.generation(), now);
        if (first != null && now - first > DOUBT_NANOS) {
            var unused = redis.server().leaveIfOutdated(shard::hasScriptsIn);
        }
    }

    public static Request request(Shards.Shard shard, Call<?> call) {
        Generation generation = shard.generation();
        Request request = Request.cmd(Command.EVALSHA)
                .arg(shard.script(call.script()).sha())
                .arg(1 + call.keys())
                .arg(generation.journalKey());
        call.write.accept(generation, request);
        return request;
    }

    /** Whether a fault shows that the generation is over, or not prepared in this Redis. The script changed nothing. */
    private static boolean isFenced(Throwable fault) {
        return RedisFault.is(fault, RedisFault.Kind.NO_SCRIPT) || RedisFault.is(fault, RedisFault.Kind.NO_JOURNAL);
    }

    /** For periodic work: a fault that {@link #call} has reported is the owner's to repair, and does not fail the work. */
    public static Future<Void> unlessReported(Throwable fault) {
        return isReported(fault) ? Future.succeededFuture() : Future.failedFuture(fault);
    }

    /** Whether {@link #call} reports a fault: neither faults of the connection nor refusals of a healthy Redis. */
    static boolean isReported(Throwable fault) {
        return isFenced(fault) || RedisFault.is(fault, RedisFault.Kind.ERROR);
    }

    /** Reports to the owner that a key of a generation holds an impossible value. */
    public void broken(Generation generation) {
        var unused = shards.report(generation, Symptom.FAILED);
    }

    private <R> R answer(Generation generation, Response response, Reply<R> reply) {
        if (!reply.accepted.isEmpty()) {
            long seq = Long.parseLong(response.get(0).toString());
            JournalEntry entry =
                    new JournalEntry(generation, seq, reply.accepted.get(0).verb(), List.copyOf(reply.accepted));
            publish(entry);
        }
        for (String key : reply.missing) {
            var unused = shards.report(generation, Symptom.missing(key));
        }
        return reply.answer;
    }

    private void publish(JournalEntry entry) {
        Generation generation = entry.generation();
        if (shards.owned().contains(generation.shard())) {
            loop.publish(JournalEntry.address(generation.shard()), entry);
        } else {
            shards.foreignEntries().tell(Stretch.of(generation, entry.seq()));
        }
    }

    private void report(Generation generation, Call<?> call, Throwable fault) {
        if (!isReported(fault)) {
            return;
        }
        long now = loop.nanos();
        Symptom symptom = isFenced(fault) ? Symptom.FENCED : Symptom.FAILED;
        reportedNanos.values().removeIf(then -> now - then > REPORT_NANOS);
        if (reportedNanos.putIfAbsent(new Broken(generation, symptom), now) != null) {
            return;
        }
        if (symptom.equals(Symptom.FAILED)) {
            LOG.error("{}.lua of {} failed: {}", call.script(), generation, fault.getMessage());
        }
        var unused = shards.report(generation, symptom);
    }
}

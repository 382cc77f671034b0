package dev.hongbao.engine.journal;

import dev.hongbao.engine.redis.RedisFault;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.redis.ServerLink;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import dev.hongbao.engine.shard.Symptom;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the fenced scripts of a shard. Nobody else makes an EVALSHA, so that every call is looked after in the same way:
 *
 * <ul>
 *   <li>the journal entry that the script wrote is published to the shard's owner, if that is this server; if not, it is told that
 *       there is one;
 *   <li>a key that Redis lacks though it should have it is reported to the owner;
 *   <li>NOSCRIPT and NO_JOURNAL are reported: this generation is not, or no longer, what recovery prepared. The script changed
 *       nothing. When the generation stands and NOSCRIPT stays, the link may lead to a Redis of before a failover: see {@link
 *       ServerLink#leaveIfOutdated};
 *   <li>an error that no script should give is reported as a fault: the script may have failed between two of its writes, and
 *       the owner recovers the shard.
 * </ul>
 *
 * One instance per event loop, used on it only.
 */
public final class ShardScript {
    private static final Logger LOG = LoggerFactory.getLogger(ShardScript.class);

    /** Between two reports of the same thing: the owner needs to hear it once, but the first word may get lost. */
    private static final long REPORT_NANOS = 200_000_000;

    /** So long after the first NOSCRIPT of a generation that stands, the link is doubted: most recoveries take less. */
    private static final long DOUBT_NANOS = 1_000_000_000;

    private final Vertx vertx;
    private final Shards shards;
    private final Map<Generation, Long> firstMissedNanos = new HashMap<>();
    private final Map<Broken, Long> reportedNanos = new HashMap<>();

    public ShardScript(Vertx vertx, Shards shards) {
        this.vertx = vertx;
        this.shards = shards;
    }

    /**
     * One call of a script. It may be written again for another generation, when it is repeated.
     *
     * @param <R> what the script answers
     */
    public interface Call<R> {
        /** The script's name: {@code lua/<name>.lua}. */
        String script();

        /** How many keys {@link #write} adds. */
        int keys();

        /** Adds the keys that follow the journal's, then the arguments. */
        void write(Generation generation, Request request);

        /** Reads the reply to {@link #write}. */
        Reply<R> read(Generation generation, Response reply);
    }

    /**
     * A script's reply, read.
     *
     * @param answer for the caller
     * @param accepted what the journal entry holds that the script wrote, in its order; empty when it wrote none. The entry's
     *     number is the reply's first element
     * @param missing keys that Redis lacks though their packets or draws are open
     */
    public record Reply<R>(R answer, List<? extends JournalItem> accepted, List<String> missing) {
        /** Of a script that writes no journal entry. */
        public static <R> Reply<R> of(R answer) {
            return new Reply<>(answer, List.of(), List.of());
        }
    }

    /** What is wrong with a generation. */
    private record Broken(Generation generation, Symptom symptom) {}

    /**
     * Calls a script in a generation of its shard.
     *
     * @return the answer; fails with {@link RedisFault} after the shard's owner was told what it has to know. Does not wait for
     *     the owner
     */
    public <R> Future<R> call(RedisLink redis, Shards.Shard shard, Call<R> call) {
        Generation generation = shard.generation();
        long sentNanos = System.nanoTime();
        return redis.send(request(shard, call)).transform(done -> {
            shards.scriptTook(call.script(), System.nanoTime() - sentNanos);
            if (done.succeeded()) {
                return Future.succeededFuture(answer(generation, done.result(), call.read(generation, done.result())));
            }
            report(generation, call, done.cause());
            if (RedisFault.is(done.cause(), RedisFault.Kind.NO_SCRIPT)) {
                doubt(redis, shard);
            }
            return Future.failedFuture(done.cause());
        });
    }

    /**
     * The generation stands in Postgres, and its scripts are missing, for some time now: maybe it is prepared in a Redis that this link
     * does not lead to, and its owner finds all well there.
     */
    private void doubt(RedisLink redis, Shards.Shard shard) {
        long now = System.nanoTime();
        firstMissedNanos
                .keySet()
                .removeIf(generation ->
                        !shards.current(generation.shard()).generation().equals(generation));
        Long first = firstMissedNanos.putIfAbsent(shard.generation(), now);
        if (first != null && now - first > DOUBT_NANOS && redis.server() instanceof ServerLink server) {
            var unused = server.leaveIfOutdated(shard.scripts()::areIn);
        }
    }

    /** The command of a call. */
    public static Request request(Shards.Shard shard, Call<?> call) {
        Generation generation = shard.generation();
        Request request = Request.cmd(Command.EVALSHA)
                .arg(shard.scripts().script(call.script()).sha())
                .arg(1 + call.keys())
                .arg(generation.journalKey());
        call.write(generation, request);
        return request;
    }

    /** Whether a fault says that the generation is over, or not prepared in this Redis. The script changed nothing. */
    private static boolean isFenced(Throwable fault) {
        return RedisFault.is(fault, RedisFault.Kind.NO_SCRIPT) || RedisFault.is(fault, RedisFault.Kind.NO_JOURNAL);
    }

    /**
     * For work that is done again and again: what {@link #call} has reported is the owner's to mend, and no failure of the work.
     */
    public static Future<Void> unlessReported(Throwable fault) {
        return isReported(fault) ? Future.succeededFuture() : Future.failedFuture(fault);
    }

    /** Whether {@link #call} reports a fault: it is not one of the connection, nor a refusal of a Redis that is well. */
    static boolean isReported(Throwable fault) {
        return isFenced(fault) || RedisFault.is(fault, RedisFault.Kind.ERROR);
    }

    /** Tells the owner that a key of a generation holds something else than was written, as a script's fault does. */
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
            var unused = shards.report(generation, new Symptom.Missing(key));
        }
        return reply.answer;
    }

    private void publish(JournalEntry entry) {
        Generation generation = entry.generation();
        if (shards.owned().contains(generation.shard())) {
            vertx.eventBus().publish(JournalEntry.address(generation.shard()), entry);
        } else {
            shards.foreignEntries().tell(new Shards.ForeignEntry(generation, entry.seq()));
        }
    }

    private void report(Generation generation, Call<?> call, Throwable fault) {
        if (!isReported(fault)) {
            return;
        }
        long now = System.nanoTime();
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

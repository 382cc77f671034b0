package dev.hongbao.engine.shard;

import dev.hongbao.engine.postgres.SharedQueries;
import dev.hongbao.engine.redis.RedisLink;
import io.vertx.core.Future;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a server work in a generation that the previous version has prepared, as happens while servers are upgraded one by one. The
 * recovery of this version loads its own scripts and the previous version's, so the older servers always find theirs. The recovery
 * of the previous version knows nothing of this version's: a server of this version then finds its scripts missing, and the others
 * there. It may load its own, but never so that a dead generation comes back to life:
 *
 * <ul>
 *   <li>A Redis that lost data has lost all scripts. So whoever sees the scripts of a generation in a Redis knows that this Redis has
 *       lost nothing since the recovery that prepared it, since only that recovery loads them.
 *   <li>To look first and to load then is not enough: Redis may lose its data between the two, and the scripts would be in a Redis
 *       where the fence must answer NOSCRIPT, for every server that calls them.
 *   <li>So a server loads a <em>copy</em>, with a random word in its text, under SHAs that nobody else knows. When it is loaded, one
 *       SCRIPT EXISTS asks for the copy and for the previous version's scripts, all at one moment. When all are there, the copy is in
 *       a Redis that has lost nothing, and goes with its data, as they do: it is as good a fence as they are. Only then is it called,
 *       by this server alone. Else it is forgotten: nobody ever calls it.
 *   <li>A copy that was loaded late, or twice, changes nothing of this: it is called only after it was seen, once, beside them.
 *   <li>A look before it is loaded proves nothing. It keeps a Redis that has lost its scripts from being filled with copies.
 * </ul>
 *
 * The shard's owner replaces such a generation soon, shard after shard; until then a copy takes some 30 KB of Redis a server and
 * shard. When neither set is there, the shard is broken: it is recovered. Thread-safe.
 */
final class ScriptCopies {
    private static final Logger LOG = LoggerFactory.getLogger(ScriptCopies.class);

    private final SharedQueries<Generation, Boolean> making = new SharedQueries<>();

    /**
     * Makes a copy, once for all who ask at the same time.
     *
     * @param shard whose own scripts are missing, or whose copy is
     * @param made hears of the shard with a copy that can be called
     * @return whether there is one; fails when Redis does not answer, and then nothing is known
     */
    Future<Boolean> make(RedisLink redis, Shards.Shard shard, Consumer<Shards.Shard> made) {
        if (shard.previous().isEmpty() || !shard.used().equals(shard.own())) {
            return Future.succeededFuture(false);
        }
        return making.ask(shard.generation(), () -> {
            ScriptSet copy = shard.own().copy(UUID.randomUUID().toString());
            return ScriptSet.areIn(redis, List.of(shard.previous()))
                    .compose(before -> before.contains(false)
                            ? Future.succeededFuture(false)
                            : copy.load(redis)
                                    .compose(loaded -> ScriptSet.areIn(redis, List.of(copy, shard.previous())))
                                    .map(there -> !there.contains(false)))
                    .map(stands -> {
                        if (stands) {
                            LOG.info(
                                    "{} was prepared by the previous version: this version's scripts are beside its",
                                    shard.generation());
                            made.accept(new Shards.Shard(shard.generation(), shard.own(), shard.previous(), copy));
                        }
                        return stands;
                    });
        });
    }
}

package dev.hongbao.engine.writer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.redis.RedisInfo;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.redis.Script;
import dev.hongbao.engine.shard.ScriptTexts;
import dev.hongbao.engine.shard.ShardStore.ShardRow;
import dev.hongbao.engine.shard.Shards;
import dev.hongbao.engine.writer.RedisWatch.Found;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Two versions of the scripts on one shard, as while servers are upgraded one by one: neither recovers what the other has prepared,
 * and a Redis that lost its data still answers NOSCRIPT to both (invariant I9).
 */
@ExtendWith(Servers.class)
class PreviousScriptsIT {
    private static final Map<String, String> OF_BEFORE = Map.of("load", Script.read("load"));
    private static final ScriptTexts BEFORE = new ScriptTexts(OF_BEFORE, Map.of());
    private static final ScriptTexts NOW =
            new ScriptTexts(Map.of("load", "-- newer\n" + Script.read("load")), OF_BEFORE);

    /** The shard as two servers know it, after the recovery by one of them. */
    private record Both(OneShard shard, Shards before, Shards now, ShardRow row) {
        Shards.Shard known() {
            return now.current(0);
        }

        Future<List<Found>> found() {
            return Future.all(
                            shard.watch(before).look(List.of(row)).get(0),
                            shard.watch(now).look(List.of(row)).get(0))
                    .map(all -> List.of(all.<Found>resultAt(0), all.<Found>resultAt(1)));
        }

        Future<Both> flushed() {
            return flush(shard.link()).map(this);
        }

        Future<Integer> scripts() {
            return RedisInfo.read(shard.link(), "memory")
                    .map(info -> Integer.parseInt(info.get("number_of_cached_scripts")));
        }
    }

    private static Future<Response> flush(RedisLink redis) {
        return redis.send(Request.cmd(Command.SCRIPT).arg("FLUSH"));
    }

    @BeforeAll
    static void makeTheShard(TestServers servers) {
        OneShard.make(servers);
    }

    private static Future<Both> recovered(OneShard shard, boolean byBefore) {
        Shards before = new Shards(shard.store(), 1, BEFORE);
        Shards now = new Shards(shard.store(), 1, NOW);
        return shard.recovery(
                        byBefore ? before : now,
                        batch -> Future.succeededFuture(0),
                        generation -> Future.succeededFuture())
                .run(shard.first(), -1)
                .map(row -> {
                    before.adopt(row);
                    now.adopt(row);
                    return new Both(shard, before, now, row);
                });
    }

    @Test
    void aRecoveryLoadsTheScriptsOfBothVersions(TestServers servers) {
        List<Found> found =
                OneShard.on(servers, shard -> recovered(shard, false).compose(Both::found));

        assertThat(found).containsExactly(Found.WELL, Found.WELL);
    }

    @Test
    void whatThePreviousVersionHasPreparedIsNotBroken(TestServers servers) {
        List<Found> found = OneShard.on(servers, shard -> recovered(shard, true).compose(Both::found));

        assertThat(found).containsExactly(Found.WELL, Found.PREVIOUS);
    }

    @Test
    void aRedisThatHasNeitherIsBrokenForBoth(TestServers servers) {
        List<Found> found = OneShard.on(
                servers, shard -> recovered(shard, false).compose(Both::flushed).compose(Both::found));

        // Also for the first version, whose previous scripts are none: none are never there
        assertThat(found).containsExactly(Found.BROKEN, Found.BROKEN);
    }

    @Test
    void aServerCallsACopyOfItsScriptsBesideThePreviousOnes(TestServers servers) {
        OneShard.on(
                servers,
                shard -> recovered(shard, true).compose(both -> {
                    // Given a call that missed this version's script
                    Shards.Shard missed = both.known();

                    return both.scripts()
                            .compose(scripts ->
                                    // When two who missed it ask for it at once
                                    Future.all(
                                                    both.now().copyScripts(shard.link(), missed),
                                                    both.now().copyScripts(shard.link(), missed))
                                            .compose(copied -> both.scripts())
                                            .map(after -> {
                                                // Then there is one copy, which is called from now on
                                                assertThat(after).isEqualTo(scripts + 1);
                                                assertThat(both.known().used()).isNotEqualTo(missed.own());
                                                assertThat(both.known().own()).isEqualTo(missed.own());
                                                return null;
                                            })
                                            .compose(done -> shard.link()
                                                    .send(Request.cmd(Command.EVALSHA)
                                                            .arg(both.known()
                                                                    .script("load")
                                                                    .sha())
                                                            .arg(1)
                                                            .arg(both.row()
                                                                    .generation()
                                                                    .journalKey())))
                                            .map(reply -> assertThat(reply.toInteger())
                                                    .isZero()));
                }));
    }

    /** Else it would answer a script of a generation that it does not hold any more. */
    @Test
    void aRedisThatLosesItsDataBetweenTheLookAndTheLoadHasNoCopyThatAnybodyCalls(TestServers servers) {
        OneShard.on(
                servers,
                shard -> recovered(shard, true).compose(both -> {
                    Shards.Shard missed = both.known();
                    return both.now()
                            .copyScripts(new ForgetsBeforeALoad(shard.link()), missed)
                            .map(copied -> {
                                assertThat(copied).isFalse();
                                assertThat(both.known()).isEqualTo(missed);
                                return null;
                            });
                }));
    }

    @Test
    void aRedisThatLacksThePreviousScriptsGetsNoCopy(TestServers servers) {
        OneShard.on(
                servers,
                shard -> recovered(shard, true)
                        .compose(Both::flushed)
                        .compose(both -> both.now()
                                .copyScripts(shard.link(), both.known())
                                .compose(copied -> both.scripts().map(scripts -> {
                                    assertThat(copied).isFalse();
                                    assertThat(scripts).isZero();
                                    return null;
                                }))));
    }

    /** A Redis that loses its scripts, as it does with its data, right before the first is loaded. */
    private static final class ForgetsBeforeALoad implements RedisLink {
        private final RedisLink redis;
        private boolean forgotten;

        ForgetsBeforeALoad(RedisLink redis) {
            this.redis = redis;
        }

        @Override
        public boolean isConnected() {
            return redis.isConnected();
        }

        @Override
        public RedisLink server() {
            return this;
        }

        @Override
        public Future<@Nullable Response> send(Request request) {
            if (forgotten || !request.toString().contains("LOAD")) {
                return redis.send(request);
            }
            forgotten = true;
            return flush(redis).compose(gone -> redis.send(request));
        }
    }
}

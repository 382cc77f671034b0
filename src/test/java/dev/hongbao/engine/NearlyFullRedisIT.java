package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.store.redis.Script;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.StreamEntryID;

/** A Redis that evicts nothing and has little memory left (invariant I15). */
@ExtendWith(Servers.class)
class NearlyFullRedisIT {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int CLAIMS = 60_000;

    private Jedis redis;

    @BeforeEach
    void connect(@Killable TestServers servers) {
        redis = new Jedis(URI.create(servers.redisUrl()));
        redis.configSet("maxmemory-policy", "noeviction");
    }

    @AfterEach
    void giveMemory() {
        redis.configSet("maxmemory", "0");
        redis.close();
    }

    private long usedMemory() {
        String info = redis.info("memory");
        int at = info.indexOf("used_memory:") + "used_memory:".length();
        return Long.parseLong(info.substring(at, info.indexOf('\r', at)));
    }

    /** Settled claims of many users, as if they had been settled one after the other. */
    private static void settle(Books books, Packet packet) {
        books.execute("insert into account (kind, owner, asset) select 'wallet', 'member-of-the-crowd-' || n, 'CNY'"
                + " from generate_series(0, " + (CLAIMS - 1) + ") as n");
        books.execute("insert into transfer (kind, debit, credit, amount, subject, slot)"
                + " select 'claim', p.escrow, w.id, 1, p.id, n from packet as p"
                + " cross join generate_series(0, " + (CLAIMS - 1) + ") as n"
                + " join account as w on w.kind = 'wallet' and w.owner = 'member-of-the-crowd-' || n"
                + " where p.id = '" + packet.id() + "'");
    }

    @Test
    void aGenerationIsWrittenAnewWhereThereIsNoRoomForTwo(@Killable TestServers servers) {
        Books books = new Books(servers);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "2", "packet.max-count", "100000"))) {
            // Given a generation that fills 62 % of the memory
            engine.deposit("alice", CLAIMS + 10L);
            Packet packet = engine.send("alice", CLAIMS + 10L, CLAIMS + 10);
            settle(books, packet);
            redis.del(books.journalKeys().get(packet.shard()));
            eventually(
                    SOON,
                    () -> assertThat(redis.hlen(books.stamps().get(packet.shard()) + ":p:" + packet.id()))
                            .isEqualTo(CLAIMS + 1));
            eventually(
                    SOON,
                    () -> assertThat(engine.claim(packet, "early").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
            redis.configSet("maxmemory", Long.toString(usedMemory() * 100 / 62));
            long epochs = books.sumOfEpochs();

            // When Redis is not the one it was
            redis.scriptFlush();

            // Then
            eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThanOrEqualTo(epochs + 2));
            eventually(
                    SOON,
                    () -> assertThat(engine.claim(packet, "late").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
            assertThat(books.sumOfEpochs()).as("epochs").isLessThanOrEqualTo(epochs + 4);
            assertThat(redis.keys("*:p:*")).hasSize(1);
        }
    }

    @Test
    void theScriptsThatGiveMemoryBackRunInAFullRedisAndNoOthers() {
        // Given
        redis.xadd("{t}:journal", new StreamEntryID(1, 0), Map.of("open", "-"));
        redis.hset("{t}:packet", "#", "0");
        redis.hset("{t}:open", "#", "0");
        redis.hset("{t}:draw", "#", "0");
        redis.zadd("{t}:attempts", Double.POSITIVE_INFINITY, "#");

        // When
        redis.configSet("maxmemory", "1");

        // Then
        assertThat(call("close", List.of("{t}:journal", "{t}:packet"), List.of("packet"))
                        .toString())
                .contains("closing");
        assertThat(call("end", List.of("{t}:journal", "{t}:draw", "{t}:schedule"), List.of("draw", "-"))
                        .toString())
                .contains("ending");
        assertThat(call(
                                "return",
                                List.of("{t}:journal", "{t}:attempts"),
                                List.of("0", "-1", "draw", "turn", "t1", "bob"))
                        .toString())
                .contains("undecided");
        assertThatThrownBy(() -> call(
                        "claim", List.of("{t}:journal", "{t}:open"), List.of("9", "1", "packet", "1", "1", "0", "bob")))
                .hasMessageContaining("OOM");
        redis.configSet("maxmemory", "0");
        redis.del("{t}:journal", "{t}:packet", "{t}:open", "{t}:draw", "{t}:attempts");
    }

    private Object call(String name, List<String> keys, List<String> args) {
        String text = Script.read(name)
                .replace("@generation@", "{t}:1-test")
                .replace("@epoch@", "1")
                .replace("@replid@", "");
        assertThat(text.startsWith("#!lua flags=allow-oom\n")).isEqualTo(!name.equals("claim"));
        return redis.eval(text, keys, args);
    }
}

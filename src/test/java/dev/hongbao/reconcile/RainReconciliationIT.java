package dev.hongbao.reconcile;

import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestRains.definition;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.campaign.Rain;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.values.PacketId;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

/** The audit finds what is wrong with rains: each check is seen failing on forged books, and Redis is held to Postgres. */
class RainReconciliationIT extends ChecksContract {
    private Rain.View open;

    RainReconciliationIT() {
        super(
                CampaignChecks.RAINS,
                List.of(
                        "alter table packet disable trigger user",
                        "alter table pool disable trigger user",
                        "alter table packet drop constraint packet_is_committed",
                        "alter table rain drop constraint rain_is_committed"));
    }

    /** One that rains for ten minutes, one that was cancelled, and one that is over; a share of each is caught. */
    @Override
    void writeBooks(TestEngine engine) {
        TestRains rains = new TestRains(engine);
        engine.deposit("shop", 20_000);
        open = rains.create(definition(600, 500, 1, 1));
        Rain.View cancelled = rains.create(definition(600, 500, 1, 1));
        Rain.View over = rains.create(definition(8, 3, 2, 2));
        for (Rain.View rain : List.of(open, cancelled, over)) {
            PacketId drop = rains.awaitFallen(rain, 1).fallen().get(0).packet();
            get(engine.claim(0, TestEngine.member("bob"), drop));
        }
        rains.cancel(cancelled.rain().id());
        rains.awaitEnded(cancelled);
        rains.awaitEnded(over);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "update packet set amount = amount + 1, max = amount + 1 where id in (select packet from pool limit 1)",
                "update rain set drops = drops + 1",
                "update packet set group_id = 'family' where id in (select packet from pool)",
                "update packet set expires_at = expires_at + interval '1 second' where id in (select packet from pool limit 1)",
                "update packet set opens_at = opens_at - interval '2 hours' where id in (select packet from pool limit 1)",
                "update campaign set definition = jsonb_set(definition, '{claiming,total}', '9')",
                "update campaign set kind = 'campaign'",
                "update rain set caught = 10000",
                "update rain set ended = not ended"
            })
    void forgedBooksAreFound(String forgery) throws Exception {
        assertFound(forgery);
    }

    @Test
    void aMomentThatTheSeedDoesNotGiveIsFound() throws Exception {
        // Given
        String drop = new Books(servers())
                .strings("select p.id from packet as p join pool as o on o.packet = p.id where o.campaign = '"
                        + open.rain().id() + "' order by p.opens_at desc")
                .get(0);
        String move = "update packet set opens_at = opens_at %s interval '1 millisecond' where id = '" + drop + "'";
        Books books = new Books(servers());

        // When
        books.execute(String.format(move, "-"));
        List<String> found = audit();
        books.execute(String.format(move, "+"));

        // Then
        assertThat(found).anySatisfy(line -> assertThat(line).contains("other moments"));
        assertThat(audit()).isEmpty();
    }

    @Test
    void aSeedThatTheCommitmentDoesNotFitIsRefused() {
        Books books = new Books(servers());
        assertThatThrownBy(() -> books.execute("update rain set seed = sha256('other')"))
                .hasStackTraceContaining("rain_is_committed");
    }

    @Test
    void whatRedisHasCountedWronglyIsFound() throws Exception {
        String key = new Books(servers()).stamps().get(open.rain().shard()) + ":c:"
                + open.rain().id();
        try (Jedis redis = new Jedis(URI.create(servers().redisUrl()))) {
            String counted = redis.hget(key, "bob");
            redis.hset(key, "bob", counted.replaceFirst("1", "0"));
            List<String> found = audit();
            redis.hset(key, "bob", counted);
            assertThat(found)
                    .anySatisfy(
                            line -> assertThat(line).contains(open.rain().id().toString()));
        }
    }
}

package dev.hongbao.draw;

import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A player reads a draw after very many plays. The plays are forged: only their number matters. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DrawViewIT {
    private Books books;
    private TestEngine engine;
    private TestDraws draws;

    @BeforeAll
    void start(TestServers servers) {
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        draws = new TestDraws(engine);
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private DrawView seenByVera(Draw draw) {
        return get(engine.loop(0).call(services -> services.draws.view(member("vera"), draw.id())));
    }

    @Test
    void playsAreCountedAsFarAsTenThousand() {
        // Given a draw that counts nobody's plays
        Draw draw = draws.create("{mode: weights, prizes: [{name: a, weight: 1}]}");
        books.execute("alter table play disable trigger user");
        books.execute("insert into play (draw, seq, request, nth, round, at, prize, part, user_id)"
                + " select '" + draw.id() + "', n, gen_random_uuid(), n + 1, 1, now(), 1, 0, 'vera'"
                + " from generate_series(0, 10000) as n");
        books.execute("alter table play enable trigger user");

        // When, then
        assertThat(seenByVera(draw).plays()).isEqualTo(10_000);
    }

    @Test
    void aDrawWithLimitsHasCountedThem() {
        // Given
        Draw draw = draws.create("{mode: weights, limits: {total: 30000}, prizes: [{name: a, weight: 1}]}");
        assertThat(seenByVera(draw)).returns(0L, DrawView::plays).returns(30_000L, DrawView::left);
        books.execute(
                "insert into player (draw, user_id, counters) values ('" + draw.id() + "', 'vera', '{20000, 1, 1}')");

        // When, then
        assertThat(seenByVera(draw))
                .returns(20_000L, DrawView::plays)
                .returns(10_000L, DrawView::left)
                .returns(null, DrawView::leftToday);
    }
}

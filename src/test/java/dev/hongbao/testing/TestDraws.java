package dev.hongbao.testing;

import static dev.hongbao.testing.TestEngine.get;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.DrawService.Exported;
import dev.hongbao.draw.Play;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.yaml.snakeyaml.Yaml;

/** Makes draws on an engine, from YAML, and plays them. */
public final class TestDraws {
    public static final Asset POINTS = new Asset("POINTS");

    /** The host application's backend, which owns the draws. */
    public static final Caller SERVICE = new Caller(new UserId("shop"), Set.of(), Role.SERVICE, Instant.MAX);

    private final TestEngine engine;

    public TestDraws(TestEngine engine) {
        this.engine = engine;
    }

    /** Reads a definition; one without {@code closesAt} is open for a day. */
    public static DrawDefinition definition(String yaml) {
        Map<String, Object> body = new HashMap<>(new Yaml().load(yaml));
        body.putIfAbsent("name", "test");
        body.putIfAbsent("closesAt", Instant.now().plusSeconds(86_400).toString());
        return DrawDefinition.read(body);
    }

    public Draw create(String yaml) {
        return create(definition(yaml));
    }

    public Draw create(DrawDefinition definition) {
        return get(engine.loop(0).call(services -> services.draws.create(SERVICE, definition, TestEngine.newKey())));
    }

    public void deposit(String user, Asset asset, long amount) {
        get(engine.engine().wallets.deposit(TestEngine.BACKEND, new UserId(user), asset, amount, TestEngine.newKey()));
    }

    public long balance(String user, Asset asset) {
        return get(engine.engine().wallets.balances(new UserId(user))).stream()
                .filter(balance -> balance.asset().equals(asset))
                .mapToLong(balance -> balance.amount())
                .sum();
    }

    /** One play with a key of its own. */
    public Future<PlayOutcome> play(int loop, Draw draw, String user) {
        return play(loop, draw, user, 1, TestEngine.newKey());
    }

    public Future<PlayOutcome> play(int loop, Draw draw, String user, int plays, IdempotencyKey key) {
        return engine.loop(loop).call(services -> services.plays.play(TestEngine.member(user), draw.id(), plays, key));
    }

    /** How often each prize was won, by name. */
    public static Map<String, Long> counts(List<Play> plays) {
        return plays.stream().collect(Collectors.groupingBy(play -> play.prize().name(), Collectors.counting()));
    }

    /** All settled plays of a draw, in order. */
    public List<Play> plays(Draw draw) {
        List<Play> plays = new java.util.ArrayList<>();
        Function<List<Exported>, Future<Void>> add = page -> {
            page.forEach(exported -> {
                if (exported instanceof Exported.Played played) {
                    plays.add(played.play());
                }
            });
            return Future.succeededFuture();
        };
        get(engine.loop(0).call(services -> services.draws.export(SERVICE, draw.id(), add)));
        return plays;
    }
}

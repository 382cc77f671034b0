package dev.hongbao.testing;

import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Rain;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** Makes rains on an engine. */
public final class TestRains {
    private static final Duration IN_TIME = Duration.ofSeconds(20);

    private final TestEngine engine;

    public TestRains(TestEngine engine) {
        this.engine = engine;
    }

    /** For the tests' group, beginning soon: equal shares of 10 unless told otherwise. */
    public static JsonObject definition(int seconds, int drops, int shares, int catches) {
        return new JsonObject()
                .put("name", "New Year")
                .put("asset", "CNY")
                .put("budget", 10L * drops * shares)
                .put("groups", new JsonArray().add(TestEngine.GROUP.value()))
                .put("startsAt", Instant.now().plusMillis(1500).toString())
                .put("durationSeconds", seconds)
                .put("drops", drops)
                .put("sharesPerDrop", shares)
                .put("split", "equal")
                .put("catchesPerUser", catches);
    }

    public Rain.View create(JsonObject definition) {
        return create(TestDraws.SERVICE, definition);
    }

    public Rain.View create(Caller host, JsonObject definition) {
        return create(host, definition, newKey());
    }

    public Rain.View create(Caller host, JsonObject definition, IdempotencyKey key) {
        return get(engine.loop(0).call(services -> services.rains.create(host, definition, key)));
    }

    /** A host of its own, with this much money: others' rains do not end in its wallet. */
    public Caller host(String name, long money) {
        engine.deposit(name, money);
        return new Caller(new UserId(name), Set.of(), Role.SERVICE, Instant.MAX);
    }

    public Rain.View view(CampaignId id) {
        return view(TestDraws.SERVICE, id);
    }

    public Rain.View view(Caller viewer, CampaignId id) {
        return get(engine.loop(0).call(services -> services.rains.view(viewer, id)));
    }

    public Rain.View cancel(CampaignId id) {
        return get(engine.loop(0).call(services -> services.rains.cancel(TestDraws.SERVICE, id)));
    }

    /** Until this many drops have fallen. */
    public Rain.View awaitFallen(Rain.View rain, int drops) {
        await(() -> view(rain.rain().id()).fallen().size() >= drops);
        return view(rain.rain().id());
    }

    /** Until what was left of its budget is returned. */
    public Rain.View awaitEnded(Rain.View rain) {
        await(() -> view(rain.rain().id()).status() == Rain.View.Status.ENDED);
        return view(rain.rain().id());
    }

    private static void await(BooleanSupplier comes) {
        Eventually.eventually(IN_TIME, () -> assertThat(comes.getAsBoolean()).isTrue());
    }
}

package dev.hongbao.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TokensFuzz;
import dev.hongbao.testing.LiveHeap;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.webhook.ReceiversFuzz;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Inputs of every kind, by a seed that is told. A million by hand: {@code ./mvnw -q test -Dtest=FuzzIT -Dfuzz.inputs=1000000 -Dfuzz.seed=7};
 * one of them again: {@code -Dfuzz.only=calls:4711} with the seed; one kind: {@code -Dfuzz.only=calls}. It stands with the tests, since it
 * needs their servers and their books.
 */
@ExtendWith(Servers.class)
class FuzzIT {
    private static final long INPUTS = Long.getLong("fuzz.inputs", 5_000);
    private static final long SEED = Long.getLong("fuzz.seed", System.nanoTime() & 0xfffffff);
    private static final String ONLY = System.getProperty("fuzz.only", "");

    /** Caches that fill up, and the inputs' own. */
    private static final long GROWTH_BYTES = 96L << 20;

    @Test
    void noInputMakesTheServerTellOrLoseOrForgetItself(TestServers servers) throws Exception {
        Findings findings = new Findings(SEED);
        Fuzz fuzz = new Fuzz(SEED, findings, System.out::println);
        System.out.println("seed " + SEED);
        ContractText contract = ContractText.read();
        Hostile hostile = new Hostile(contract.bounds());
        try (FuzzServer server = new FuzzServer(servers, contract);
                ReceiversFuzz receivers = new ReceiversFuzz(hostile)) {
            World world = server.world();
            List<Kind> kinds = List.of(
                    new ConfigKind(Path.of("target", "fuzz"), hostile),
                    new TokensFuzz(hostile),
                    receivers,
                    new FramesKind(world, hostile),
                    new BytesKind(world, hostile),
                    CallsKind.ofConsole(server.managementPort(), world, hostile),
                    CallsKind.ofApi(contract, world, hostile));
            String[] only = ONLY.split(":", 2);
            List<Kind> chosen = kinds.stream()
                    .filter(kind -> ONLY.isEmpty() || kind.name().equals(only[0]))
                    .toList();
            assertThat(chosen).as("kinds named %s", only[0]).isNotEmpty();
            if (only.length == 2) {
                fuzz.again(chosen.get(0), Long.parseLong(only[1]));
            } else {
                all(fuzz, chosen, findings);
            }
            server.check(findings);
        }
        assertThat(findings.all()).as("findings of seed " + SEED).isEmpty();
    }

    private static void all(Fuzz fuzz, List<Kind> kinds, Findings findings) throws Exception {
        for (Kind kind : kinds) {
            fuzz.run(kind, 0, INPUTS * kind.share() / 400);
        }
        LiveHeap before = LiveHeap.now();
        for (Kind kind : kinds) {
            fuzz.run(kind, INPUTS * kind.share() / 400, INPUTS * kind.share() / 100);
        }
        LiveHeap after = LiveHeap.now();
        long grown = after.bytes() - before.bytes();
        System.out.printf(
                "heap: %d MiB, %+d since a quarter of the inputs: %s%n",
                after.bytes() >> 20, grown >> 20, after.grownMost(before));
        if (grown > GROWTH_BYTES) {
            findings.add("the heap has grown by " + (grown >> 20) + " MiB");
        }
    }
}

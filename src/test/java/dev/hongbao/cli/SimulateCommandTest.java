package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SimulateCommandTest {
    @TempDir
    private Path directory;

    private Typed simulate(String yaml, String... options) throws Exception {
        Path file = Files.writeString(directory.resolve("draw.yaml"), yaml);
        return Typed.after(
                new DrawCommand(),
                Stream.concat(Stream.of("simulate", file.toString()), Stream.of(options))
                        .toArray(String[]::new));
    }

    private Path png() {
        return directory.resolve("draw.yaml.png");
    }

    @Test
    void weightsAreHeldAgainstTheirOdds() throws Exception {
        // When
        Typed run = simulate("""
                name: 转盘
                closesAt: "2030-01-01T00:00:00Z"
                mode: weights
                prizes: [{name: gold, weight: 1}, {name: silver, weight: 99}, {name: none, weight: 900}]
                """, "--plays", "200000");

        // Then
        assertThat(run.exit()).as(run.out() + run.err()).isZero();
        assertThat(run.out()).contains("gold", "200.0", "the promise is kept", "plays      200000 of 200000");
        assertThat(ImageIO.read(png().toFile()).getWidth()).isEqualTo(1000);
    }

    @Test
    void aStockThatEndsEarlyIsWarnedOf() throws Exception {
        // Given hourly quotas that use up the stock after twenty of 72 hours, on the first of three days
        Typed run = simulate("""
                name: hours
                opensAt: "2029-12-29T00:00:00Z"
                closesAt: "2030-01-01T00:00:00Z"
                mode: schedule
                limits: {zone: UTC}
                prizes: [{name: phone, quota: 2, stock: 40}, {name: cup, quota: 1, stock: 72}]
                fallback: {name: thanks}
                """, "--plays", "7200");

        // Then
        assertThat(run.out().lines().filter(line -> line.startsWith("warning")))
                .singleElement()
                .asString()
                .matches("warning +the stock of phone ends early: at play (19|20)[0-9]{2} of 7200 \\(2[67]\\.[0-9]%\\),"
                        + " on day 1 of 3, 2029-12-29T19:.*");
    }

    @Test
    void aTableThatIsOverIsWarnedOfAsJson() throws Exception {
        // Given a table of 100 plays
        String table = """
                name: table
                opensAt: "2029-12-31T00:00:00Z"
                closesAt: "2030-01-01T00:00:00Z"
                mode: table
                prizes: [{name: a, count: 1}, {name: b, count: 99}]
                """;

        // When
        JsonObject over =
                new JsonObject(simulate(table, "--plays", "400", "--json").out());
        JsonObject enough =
                new JsonObject(simulate(table, "--plays", "100", "--json").out());

        // Then
        assertThat(over.getJsonArray("warnings")).hasSize(1);
        JsonObject warning = over.getJsonArray("warnings").getJsonObject(0);
        assertThat(warning.getValue("prize")).isNull();
        assertThat(warning.getLong("play")).isEqualTo(100);
        assertThat(warning.getDouble("percent")).isEqualTo(25.0);
        assertThat(warning.getString("at")).startsWith("2029-12-31T05:56");
        assertThat(warning.getString("text")).contains("later plays are refused");
        assertThat(over.getJsonObject("refused").getLong("exhausted")).isEqualTo(300);
        assertThat(over.getLong("played")).isEqualTo(100);
        assertThat(enough.getJsonArray("warnings")).isEmpty();
        assertThat(enough.getJsonArray("prizes").getJsonObject(1).getLong("won"))
                .isEqualTo(99);
    }

    @Test
    void everyFaultOfTheDefinitionIsTold() throws Exception {
        Typed run = simulate("mode: weights\nprizes: [{name: a, weight: 0}]\ncolour: red\n");
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err()).contains("#/name is required", "#/closesAt", "#/prizes/0/weight", "#/colour");
        assertThat(png()).doesNotExist();
    }

    @Test
    void aFileThatIsMissingIsBadInput() {
        String missing = directory.resolve("none.yaml").toString();

        Typed run = Typed.after(new DrawCommand(), "simulate", missing);

        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err().strip()).isEqualTo("NoSuchFileException " + missing);
    }
}

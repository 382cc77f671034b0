package dev.hongbao.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ScriptTest {

    private static final Path LUA = lua();

    private static Path lua() {
        try {
            return Path.of(Objects.requireNonNull(Script.class.getResource("/lua/claim.lua"))
                            .toURI())
                    .getParent();
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The scripts, but not the parts that they include. */
    private static List<String> scripts() throws IOException {
        try (Stream<Path> files = Files.list(LUA)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".lua"))
                    .map(name -> name.substring(0, name.length() - 4))
                    .toList();
        }
    }

    @Test
    void anIncludeIsReplacedByTheFileItNames() {
        String fence = Script.read("fence/append");

        assertThat(Script.read("claim"))
                .contains(fence)
                .contains("JOURNAL_FULL")
                .doesNotContain("--@include")
                .endsWith("return { number, outcome }\n");
    }

    @Test
    void aScriptKeepsItsFirstLineWhereRedisLooksForFlags() {
        assertThat(Script.read("close")).startsWith("#!lua flags=allow-oom\n");
    }

    @Test
    void aFileThatIsMissingIsNamed() {
        assertThatThrownBy(() -> Script.read("nothing"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("/lua/nothing.lua");
    }

    /** So that each generation has its own SHA, and a script that finds no journal says so. */
    @Test
    void everyScriptIsFencedButTheProbeOfCommands() throws IOException {
        assertThat(scripts()).contains("commands").allSatisfy(name -> {
            if (name.equals("commands")) {
                assertThat(Script.read(name))
                        .startsWith("#!lua flags=no-writes\n")
                        .doesNotContain("redis.call");
            } else {
                assertThat(Script.read(name)).contains("@generation@").contains("NO_JOURNAL");
            }
        });
    }

    @Test
    void theLinesOfTheFenceAreWrittenInOnePlace() throws IOException {
        for (String name : scripts()) {
            assertThat(Files.readString(LUA.resolve(name + ".lua")))
                    .as(name)
                    .doesNotContain("error_reply('NO_JOURNAL")
                    .doesNotContain("error_reply('JOURNAL_FULL")
                    .doesNotContain("'XADD'");
        }
    }
}

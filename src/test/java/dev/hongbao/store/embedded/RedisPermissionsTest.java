package dev.hongbao.store.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the sources call is what the server's user in Redis may call. */
class RedisPermissionsTest {
    /** What the client calls by itself, and what only sentinels or a cluster's start check are asked. */
    private static final Set<String> BY_THE_CLIENT = Set.of("hello", "auth", "ping", "select");

    private static final Set<String> OF_OTHERS = Set.of("sentinel", "config");

    private static Set<String> found(String root, String ending, String pattern) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of(root))) {
            Set<String> all = new TreeSet<>();
            for (Path file : files.filter(each -> each.toString().endsWith(ending))
                    .filter(each -> !each.toString().contains("bench"))
                    .toList()) {
                Pattern.compile(pattern)
                        .matcher(Files.readString(file))
                        .results()
                        .forEach(match -> all.add(match.group(1).toLowerCase(Locale.ROOT)));
            }
            return all;
        }
    }

    private static Set<String> allowed() {
        return Arrays.stream(EmbeddedRedis.RULES.split(" "))
                .filter(word -> word.startsWith("+"))
                .map(word -> word.substring(1).split("\\|")[0])
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theyAreTheCommandsOfTheSourcesAndNoOthers() throws IOException {
        // When
        Set<String> called = found("src/main/java", ".java", "\\bCommand\\.([A-Z]+)\\b");
        called.addAll(found("src/tools/java", ".java", "\\bCommand\\.([A-Z]+)\\b"));
        called.addAll(found("src/main/resources/lua", ".lua", "redis\\.p?call\\('([A-Z]+)'"));
        called.removeAll(OF_OTHERS);
        called.addAll(BY_THE_CLIENT);

        // Then
        assertThat(allowed()).isEqualTo(called);
        assertThat(EmbeddedRedis.RULES.split(" "))
                .contains("-@all")
                .as("commands with others that an administrator needs")
                .doesNotContain("+script", "+config", "+acl", "+client", "+cluster", "+module", "+function");
    }

    @Test
    void theGuideHasThem() throws IOException {
        assertThat(Files.readString(Path.of("src/site/markdown/operating.md")))
                .contains("ACL SETUSER " + EmbeddedRedis.USER + " on >password " + EmbeddedRedis.RULES + "\n");
    }
}

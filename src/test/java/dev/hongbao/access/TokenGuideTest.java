package dev.hongbao.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the guide tells a host to write makes tokens that are believed. */
class TokenGuideTest {
    private static final Pattern JAVA = Pattern.compile("(?s)```java\n(.*?)```");

    @Test
    void theGuidesJavaMakesATokenThatIsBelieved(@TempDir Path dir) throws Exception {
        // Given the guide's class, compiled as it stands there
        Matcher example = JAVA.matcher(Files.readString(Path.of("src/site/markdown/tokens.md")));
        assertThat(example.find()).isTrue();
        Path source = Files.writeString(dir.resolve("HongbaoToken.java"), example.group(1));
        assertThat(ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-proc:none", "-d", dir.toString(), source.toString()))
                .isZero();
        byte[] secret = new byte[32];

        // When
        String token;
        try (URLClassLoader loader = new URLClassLoader(new URL[] {dir.toUri().toURL()})) {
            token = (String) loader.loadClass("HongbaoToken")
                    .getMethod("of", String.class, String[].class, byte[].class, long.class)
                    .invoke(null, "alice", new String[] {"family", "work"}, secret, 3_600L);
        }

        // Then
        Caller caller = new Tokens(TestKeys.settingsOf(secret), Clock.systemUTC())
                .verify(token)
                .caller();
        assertThat(Objects.requireNonNull(caller).user().value()).isEqualTo("alice");
        assertThat(caller.isMemberOf(new GroupId("family")) && caller.isMemberOf(new GroupId("work")))
                .isTrue();
        assertThat(Set.of(new GroupId("other"))).noneMatch(caller::isMemberOf);
    }
}

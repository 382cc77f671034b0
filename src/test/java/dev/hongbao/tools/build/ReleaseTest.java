package dev.hongbao.tools.build;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.postgres.Migrations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** All places show the same version; see "Release a version" in contributing.md. */
class ReleaseTest {
    private static final String SNAPSHOT = "-SNAPSHOT";

    private static String found(String file, String pattern) throws IOException {
        Matcher matcher = Pattern.compile(pattern, Pattern.MULTILINE).matcher(Files.readString(Path.of(file)));
        assertThat(matcher.find()).as(file + " has " + pattern).isTrue();
        return matcher.group(1);
    }

    private static String ofPom() throws IOException {
        return found("pom.xml", "<artifactId>hongbao</artifactId>\\s+<version>(.*?)</version>");
    }

    @Test
    void theJarIsOfTheVersionOfItsPom() throws IOException {
        assertThat(Migrations.VERSION).isEqualTo(ofPom().replace(SNAPSHOT, ""));
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
        src/main/resources/openapi.yaml          ; ^  version: (.*)$
        src/main/resources/asyncapi.yaml         ; ^  version: (.*)$
        src/main/resources/console.yaml          ; ^  version: (.*)$
        src/main/resources/webroot/package.json  ; ^  "version": "(.*)",$
        src/site/markdown/changes.md             ; ^## (\\d\\S*) \\(
        """)
    void whateverElseNamesItNamesTheSame(String file, String pattern) throws IOException {
        assertThat(found(file, pattern)).isEqualTo(Migrations.VERSION);
    }

    @Test
    void aReleasedVersionHasADate() throws IOException {
        assertThat(found("src/site/markdown/changes.md", "^## \\d\\S* \\((.*)\\)$"))
                .matches(ofPom().endsWith(SNAPSHOT) ? "not released" : "20\\d\\d-\\d\\d-\\d\\d");
    }

    @Test
    void versionsAreComparedByTheirNumbers() {
        assertThat(Migrations.isBefore("0.9.0", "0.10.0")).isTrue();
        assertThat(Migrations.isBefore("0.10.0", "0.10.0")).isFalse();
        assertThat(Migrations.isBefore("1.0.0", "0.10.0")).isFalse();
    }
}

package dev.hongbao.tools.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Images that are not ours are the same bytes at each build: they are named by tag and digest. */
class BaseImagesTest {
    private static final String PINNED = "[a-z/-]+:[a-z0-9.-]+@sha256:[0-9a-f]{64}";

    private static List<String> found(String file, String pattern) throws IOException {
        return Pattern.compile(pattern)
                .matcher(Files.readString(Path.of(file)))
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    @Test
    void everyBaseIsNamedByItsDigestAndBothImagesStandOnTheSame() throws IOException {
        List<String> bases = found("docker/Dockerfile", "(?m)^FROM (\\S+)");

        assertThat(bases).hasSize(3).allMatch(base -> base.matches(PINNED));
        assertThat(bases.get(1)).contains("-jre@").isEqualTo(bases.get(2));
        assertThat(found("pom.xml", "<image>(\\S+@\\S+)</image>")).containsExactly(bases.get(2));
    }

    @Test
    void everyServiceOfOthersIsNamedByItsDigest() throws IOException {
        List<String> images = found("docker/compose.yaml", "(?m)^ +image: (\\S+)$");

        assertThat(images).hasSize(6).contains("hongbao");
        assertThat(images).filteredOn(image -> !image.equals("hongbao")).allMatch(image -> image.matches(PINNED));
    }
}

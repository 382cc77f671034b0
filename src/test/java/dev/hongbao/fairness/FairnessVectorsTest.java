package dev.hongbao.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Packet.Commitment;
import dev.hongbao.packet.split.Split;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.values.Asset;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The golden vectors, which the page's client holds too. When this test fails, nobody can verify stored packets any more: do not
 * adapt the vectors, give the new way a new version.
 */
class FairnessVectorsTest {
    private static final Path VECTORS = Path.of("src/main/resources/webroot/fairness/packets.json");

    static Stream<JsonObject> vectors() throws IOException {
        return new JsonArray(Files.readString(VECTORS)).stream().map(JsonObject.class::cast);
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void aSeedGivesTheCommitmentAndTheShares(JsonObject vector) throws Exception {
        // Given
        SplitTerms terms = new SplitTerms(
                SplitAlgorithm.of(vector.getString("split")),
                vector.getLong("amount"),
                vector.getInteger("count"),
                vector.getLong("min"),
                vector.getLong("max"));
        byte[] seed = HexFormat.of().parseHex(vector.getString("seed"));

        // When
        Commitment commitment = Commitment.of(
                UUID.fromString(vector.getString("id")), new Asset(vector.getString("asset")), terms, seed);
        long[] shares = Split.amounts(terms, seed);

        // Then
        assertThat(commitment)
                .isEqualTo(new Commitment(vector.getInteger("splitVersion"), vector.getString("commitment")));
        if (vector.containsKey("shares")) {
            assertThat(Arrays.stream(shares).boxed())
                    .isEqualTo(vector.getJsonArray("shares").stream()
                            .map(share -> ((Number) share).longValue())
                            .toList());
        } else {
            String text = Arrays.stream(shares).mapToObj(Long::toString).collect(Collectors.joining(","));
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII));
            assertThat(HexFormat.of().formatHex(digest)).isEqualTo(vector.getString("sharesDigest"));
        }
    }

    @Test
    void everyAlgorithmHasVectors() throws IOException {
        assertThat(vectors().map(vector -> vector.getString("split")).collect(Collectors.toSet()))
                .isEqualTo(Stream.of(SplitAlgorithm.values())
                        .map(SplitAlgorithm::wireName)
                        .collect(Collectors.toSet()));
    }

    @Test
    void whatIsDigestedIsTheTextThatTheGuideShows() throws IOException {
        // Given the first vector, which the guide explains
        JsonObject vector = vectors().findFirst().orElseThrow();
        SplitTerms terms = SplitTerms.of(SplitAlgorithm.DOUBLE_MEAN, 888, 8, null, null);

        // When
        String text = Commitment.text(
                UUID.fromString(vector.getString("id")),
                new Asset("CNY"),
                terms,
                HexFormat.of().parseHex(vector.getString("seed")));

        // Then
        assertThat(text).isEqualTo("""
            hongbao-packet-v1
            id=01939d1e-8c00-7000-8000-000000000001
            seed=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
            asset=CNY
            amount=888
            count=8
            min=1
            max=888
            split=double-mean
            splitVersion=1
            """);
        assertThat(Files.readString(Path.of("src/site/markdown/fairness.md")))
                .contains(text)
                .contains(vector.getString("commitment"));
    }
}

package dev.hongbao.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.packet.Packet.Commitment;
import dev.hongbao.testing.TestDraws;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * Seeds and commitments. A draw's commitment was computed by another program too: when its test fails, nobody can verify draws that exist
 * any more: do not adapt the text.
 */
class SeedTest {
    private static final DrawDefinition DEFINITION = TestDraws.definition("""
        name: "转盘 \\"1\\""
        mode: schedule
        group: family
        opensAt: "2026-02-17T00:00:00Z"
        closesAt: "2026-02-18T00:00:00Z"
        schedule: {periodSeconds: 3600, boosts: [{from: "2026-02-17T20:00:00Z", to: "2026-02-17T21:00:00Z", times: 2}]}
        prizes:
          - {name: cash, category: rare, quota: 1, stock: 9, perUser: 2, award: {asset: CNY, amount: 100}}
          - {name: coupon, quota: 2, stock: 2, award: {codes: [one, two]}}
        fallback: {name: thanks}
        cost: {asset: POINTS, amount: 5}
        limits: {total: 9, perDay: 3, zone: Asia/Shanghai}
        guarantees: [{category: rare, plays: 10}]
        deny: [zoe, eve]
        showLeft: true
        """);

    /** Without white space, and without the codes. */
    private static final String TEXT = """
        {"allow":[],"closesAt":"2026-02-18T00:00:00Z","cost":{"amount":5,"asset":"POINTS"},"deny":["eve","zoe"],\
        "fallback":{"name":"thanks"},"group":"family","guarantees":[{"category":"rare","plays":10}],\
        "limits":{"perDay":3,"total":9,"zone":"Asia/Shanghai"},"mode":"schedule","name":"转盘 \\"1\\"",\
        "opensAt":"2026-02-17T00:00:00Z","prizes":[\
        {"award":{"amount":100,"asset":"CNY"},"category":"rare","name":"cash","perUser":2,"quota":1,"stock":9},\
        {"award":{"coded":true},"name":"coupon","quota":2,"stock":2}],\
        "schedule":{"boosts":[{"from":"2026-02-17T20:00:00Z","times":2,"to":"2026-02-17T21:00:00Z"}],\
        "carryOver":true,"periodSeconds":3600},"showLeft":true,"whenExhausted":"stop"}\
        """;

    private static Seed seed() {
        byte[] bytes = new byte[Seed.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        return new Seed(bytes);
    }

    @Test
    void theDefinitionIsTextInTheOrderOfItsNames() {
        assertThat(Seed.definitionText(DEFINITION)).isEqualTo(TEXT);
    }

    @Test
    void theCommitmentIsTheDigestOfFourLines() {
        assertThat(seed().commitment(UUID.fromString("01939d1e-8c00-7000-8000-000000000001"), DEFINITION))
                .isEqualTo("b21a77dcdd83ee6729109860ca6b07601ccd24c0ed1f44780cda465104c98069");
    }

    @Test
    void aSeedHas32BytesOfItsOwn() {
        byte[] bytes = new byte[32];
        Seed seed = new Seed(bytes);
        bytes[0] = 1;
        seed.toBytes()[1] = 1;

        assertThat(seed.toBytes()).isEqualTo(new byte[32]);
        assertThat(seed.hex()).isEqualTo("00".repeat(32));
        for (int length : new int[] {0, 31, 33}) {
            assertThatThrownBy(() -> new Seed(new byte[length])).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aSeedDoesNotPrintItself() {
        assertThat(new Seed(new byte[32])).hasToString("a seed");
    }

    @Test
    void aCommitmentHasAVersionAndADigest() {
        String digest = "0123456789abcdef".repeat(4);

        assertThat(new Commitment(1, digest).digest()).isEqualTo(digest);
        assertThatThrownBy(() -> new Commitment(0, digest)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Commitment(1, digest.substring(1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Commitment(1, digest.replace('a', 'A')))
                .isInstanceOf(IllegalArgumentException.class);
    }
}

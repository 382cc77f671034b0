package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.PacketId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class HttpCallsTest {
    private static final int CLAIMS = 5;

    /** More users than claims of a packet, but not a multiple of them. */
    private final byte[][] users = IntStream.range(0, 7)
            .mapToObj(user -> ("user " + user).getBytes(StandardCharsets.US_ASCII))
            .toArray(byte[][]::new);

    private final List<PacketId> packets =
            IntStream.range(0, 4).mapToObj(i -> new PacketId(new UUID(1, i))).toList();

    private static List<String> all(HttpLoad.Requests claims) {
        return LongStream.range(0, claims.count())
                .mapToObj(n -> {
                    ByteBuffer bytes = ByteBuffer.allocate(1_024);
                    claims.write(n, bytes);
                    return new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII);
                })
                .toList();
    }

    private static String packet(String request) {
        return request.substring(0, request.indexOf("/claims"));
    }

    @Test
    void acrossAllPacketsNobodyClaimsOneTwice() {
        List<String> requests = all(HttpCalls.across(users, packets, CLAIMS));

        // Then each packet gets its claims side by side with the others
        assertThat(requests).hasSize(CLAIMS * packets.size()).doesNotHaveDuplicates();
        assertThat(requests.subList(0, packets.size()))
                .extracting(HttpCallsTest::packet)
                .doesNotHaveDuplicates();
    }

    @Test
    void inTurnEachPacketGetsAClaimByEachUser() {
        List<String> requests = all(HttpCalls.inTurn(users, packets, false));

        assertThat(requests).hasSize(users.length * packets.size()).doesNotHaveDuplicates();
        assertThat(requests.subList(0, users.length))
                .extracting(HttpCallsTest::packet)
                .containsOnly(packet(requests.get(0)));
    }
}

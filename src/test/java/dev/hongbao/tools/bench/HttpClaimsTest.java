package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.domain.packet.PacketId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class HttpClaimsTest {
    private static final int CLAIMS = 5;

    private static String request(HttpClaims claims, long n) {
        ByteBuffer bytes = ByteBuffer.allocate(1_024);
        claims.write(n, bytes);
        return new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII);
    }

    @Test
    void acrossAllPacketsNobodyClaimsOneTwice() {
        // Given more users than claims of a packet, but not a multiple of them
        byte[][] users = IntStream.range(0, 7)
                .mapToObj(user -> ("user " + user).getBytes(StandardCharsets.US_ASCII))
                .toArray(byte[][]::new);
        List<PacketId> packets = IntStream.range(0, 4)
                .mapToObj(i -> new PacketId(new UUID(1, i)))
                .toList();

        // When
        HttpClaims claims = HttpClaims.across(users, packets, CLAIMS);
        List<String> requests = LongStream.range(0, claims.count())
                .mapToObj(n -> request(claims, n))
                .toList();

        // Then each packet gets its claims, one after the other, and no two are the same
        assertThat(requests).hasSize(CLAIMS * packets.size()).doesNotHaveDuplicates();
        assertThat(requests.subList(0, packets.size()))
                .extracting(request -> request.substring(0, request.indexOf("/claims")))
                .doesNotHaveDuplicates();
    }
}

package dev.hongbao.packet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.AcceptedClaims;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AcceptedClaimsTest {
    private static final String PACKET = "01a1f8a1-1873-7dbc-b338-e36c44ac598b";

    @Test
    void whatTheScriptWritesIsReadBack() {
        assertThat(AcceptedClaims.decode(PACKET + " 41 alice bob"))
                .isEqualTo(new AcceptedClaims(
                        PacketId.parse(PACKET), 41, List.of(new UserId("alice"), new UserId("bob"))));
        assertThat(AcceptedClaims.decode(PACKET + " 0 carol").users()).containsExactly(new UserId("carol"));
        assertThat(AcceptedClaims.decode(PACKET + " 41 alice bob").payload()).isEqualTo(PACKET + " 41 alice bob");
        assertThat(AcceptedClaims.decode(PACKET + " 7 .#lice .-100 ali#ce").users())
                .containsExactly(new UserId("#lice"), new UserId("-100"), new UserId("ali#ce"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                PACKET,
                PACKET + " 1",
                PACKET + " 1 ",
                PACKET + " x alice",
                PACKET + " -1 alice",
                PACKET + "  alice",
                PACKET + " 1 alice ",
                PACKET + " 1  alice",
                PACKET + " 1 ali'ce",
                PACKET + " 1 #lice",
                PACKET + " 1 .alice",
                "01a1f8a1 1 alice"
            })
    void anythingElseIsVoid(String payload) {
        assertThat(AcceptedClaims.decode(payload)).isNull();
    }
}

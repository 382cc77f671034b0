package dev.hongbao.packet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.UserId;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WinnerFilterTest {
    @Test
    void everyWinnerMayHoldAClaimAndNobodyElse() {
        List<String> winners =
                IntStream.range(0, 100_000).mapToObj(i -> "winner-" + i).toList();

        EndedPackets.WinnerFilter filter = new EndedPackets.WinnerFilter(winners);

        assertThat(winners).allMatch(user -> filter.mayHold(new UserId(user)));
        assertThat(IntStream.range(0, 100_000).mapToObj(i -> new UserId("loser-" + i)))
                .noneMatch(filter::mayHold);
    }
}

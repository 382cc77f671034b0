package dev.hongbao.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.GroupId;
import dev.hongbao.values.PacketId;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ProgressQueueTest {
    private static final GroupId FAMILY = new GroupId("family");
    private static final GroupId WORK = new GroupId("work");

    private final Set<PacketId> over = new HashSet<>();
    private final FeedOwnerTask.ProgressQueue queue = new FeedOwnerTask.ProgressQueue(over::contains);
    private final PacketId first = packet(1);
    private final PacketId second = packet(2);
    private final PacketId third = packet(3);

    private static PacketId packet(int n) {
        return new PacketId(new UUID(0x7000, 0x8000_0000_0000_0000L + n));
    }

    @Test
    void aGroupsPacketsAreToldOneATimeInTheOrderTheyCame() {
        queue.add(FAMILY, first);
        queue.add(FAMILY, second);
        queue.add(FAMILY, first);

        assertThat(queue.take(10)).isEqualTo(Map.of(FAMILY, first));
        queue.add(FAMILY, first);
        assertThat(queue.take(10)).isEqualTo(Map.of(FAMILY, second));
        assertThat(queue.take(10)).isEqualTo(Map.of(FAMILY, first));
        assertThat(queue.take(10)).isEmpty();
    }

    @Test
    void groupsTakeTurnsWhenTheyAreMoreThanATickTells() {
        queue.add(FAMILY, first);
        queue.add(FAMILY, second);
        queue.add(WORK, third);

        assertThat(List.of(queue.take(1), queue.take(1), queue.take(1)))
                .containsExactly(Map.of(FAMILY, first), Map.of(WORK, third), Map.of(FAMILY, second));
    }

    @Test
    void whatHasEndedIsPassedOver() {
        queue.add(FAMILY, first);
        queue.add(FAMILY, second);
        over.add(first);

        assertThat(queue.take(10)).isEqualTo(Map.of(FAMILY, second));
        assertThat(queue.take(10)).isEmpty();
    }
}

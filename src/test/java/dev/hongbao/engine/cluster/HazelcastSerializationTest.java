package dev.hongbao.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.internal.nio.IOUtil;
import com.hazelcast.internal.partition.PartitionStateVersionMismatchException;
import com.hazelcast.internal.serialization.SerializationClassNameFilter;
import com.hazelcast.spi.exception.PartitionMigratingException;
import com.hazelcast.spi.exception.RetryableHazelcastException;
import dev.hongbao.common.config.HongbaoConfig;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a member reads of what another one has written with Java's own serialization. */
class HazelcastSerializationTest {
    /** As a member of the cluster reads it, with Hazelcast's own code. */
    private static Object read(Object written) throws IOException, ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(written);
        }
        var filter = new SerializationClassNameFilter(
                HazelcastLine.membership(HongbaoConfig.of(Map.of()).engine().cluster())
                        .getSerializationConfig()
                        .getJavaSerializationFilterConfig());
        try (var in = IOUtil.newObjectInputStream(
                HazelcastSerializationTest.class.getClassLoader(),
                filter,
                new ByteArrayInputStream(bytes.toByteArray()))) {
            return in.readObject();
        }
    }

    static Stream<Throwable> answers() {
        return Stream.of(
                new PartitionStateVersionMismatchException(2, 1),
                new PartitionMigratingException("a partition moves"),
                new RetryableHazelcastException("again"),
                new HazelcastInstanceNotActiveException(),
                new IllegalStateException("a member leaves", new IOException("a connection is closed")),
                new ExecutionException(new TimeoutException("too late")));
    }

    @ParameterizedTest
    @MethodSource("answers")
    void theErrorsThatMembersAnswerWithAreRead(Throwable answer) throws Exception {
        Object read = read(answer);

        assertThat(read).isInstanceOf(answer.getClass()).hasToString(answer.toString());
    }

    static Stream<Object> others() {
        return Stream.of(new HashMap<>(), new PriorityQueue<>(), new java.io.File("a"), new java.util.Date());
    }

    @ParameterizedTest
    @MethodSource("others")
    void nothingElseIs(Object other) {
        assertThatThrownBy(() -> read(other)).isInstanceOf(SecurityException.class);
    }
}

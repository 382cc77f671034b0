package dev.hongbao.engine.cluster;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.testing.TestCertificate;
import dev.hongbao.tools.local.LocalMembers;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HazelcastLineIT {
    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir
    private Path directory;

    /** A server on the line, and what it has heard. */
    private record End(ServerLine line, Set<String> heard) {
        static End of(ServerLine line) {
            Set<String> heard = ConcurrentHashMap.newKeySet();
            line.listen(message -> heard.add(message.toString()));
            return new End(line, heard);
        }

        void say(String text) {
            line.tellAll(Buffer.buffer(text));
        }
    }

    private Future<ServerLine> join(Map<String, String> options, TestCertificate own, Path authority) {
        options.put("cluster.tls-certificate", own.certificate().toString());
        options.put("cluster.tls-key", own.key().toString());
        options.put("cluster.tls-authority", authority.toString());
        return HazelcastLine.join(HongbaoConfig.of(options).engine().cluster(), "ns");
    }

    @Test
    void serversHearEachOtherAndNobodyWithoutTheirCertificate() throws Exception {
        // Given two servers with one certificate, and a third one that knows it but has another
        TestCertificate ours = TestCertificate.make(Files.createDirectory(directory.resolve("ours")));
        TestCertificate other = TestCertificate.make(Files.createDirectory(directory.resolve("other")));
        List<Map<String, String>> options = LocalMembers.options(3);
        Future<ServerLine> first = join(options.get(0), ours, ours.certificate());
        Future<ServerLine> second = join(options.get(1), ours, ours.certificate());
        Future<ServerLine> third = join(options.get(2), other, ours.certificate());
        End one = End.of(get(first));
        End two = End.of(get(second));
        End stranger = End.of(get(third));

        // When, Then
        eventually(SOON, () -> {
            stranger.say("stranger");
            one.say("one");
            two.say("two");
            two.line().tell(one.line().self(), Buffer.buffer("only one"));
            assertThat(one.heard()).contains("two", "only one");
            assertThat(two.heard()).contains("one");
        });
        assertThat(one.heard()).doesNotContain("one", "stranger");
        assertThat(two.heard()).doesNotContain("two", "only one", "stranger");
        get(stranger.line().close());

        // When one leaves
        get(two.line().close());

        // Then
        eventually(SOON, () -> assertThat(one.line().isAlone()).isTrue());
        one.line().tell(two.line().self(), Buffer.buffer("too late"));
        get(one.line().close());
    }
}

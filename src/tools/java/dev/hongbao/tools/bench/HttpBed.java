package dev.hongbao.tools.bench;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.server.TokenRules;
import dev.hongbao.web.access.TokenSigner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** What a load over HTTP needs: tokens, and files of tokens and packets, a line each. */
final class HttpBed {
    private static final Duration TTL = Duration.ofHours(2);

    private HttpBed() {}

    /** A token a member. @param config of the server that is to believe them */
    static List<String> signed(HongbaoConfig config, List<Caller> members) throws IOException {
        TokenSigner signer = new TokenSigner(
                TokenRules.secret(config.web().token(), config.engine().data()), null, null, Clock.systemUTC());
        return members.stream()
                .map(member -> signer.sign(member.user(), member.groups(), member.role(), TTL))
                .toList();
    }

    /** The same, in a file. */
    static Path tokens(Path directory, HongbaoConfig config, List<Caller> members) throws IOException {
        String lines = String.join("\n", signed(config, members)) + "\n";
        Files.createDirectories(directory);
        return Files.writeString(directory.resolve("tokens.txt"), lines);
    }

    static Path packets(Path directory, List<PacketId> packets) throws IOException {
        return Files.writeString(
                directory.resolve("packets.txt"),
                packets.stream().map(PacketId::toString).collect(Collectors.joining("\n", "", "\n")));
    }
}

package dev.hongbao.tools.chaos.load;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.web.access.TokenSigner;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The tokens of all users of a run, each signed once: whoever comes with it, a server has to verify it once. Thread-safe. */
public final class UserTokens {
    private static final Duration TTL = Duration.ofDays(1);

    private final TokenSigner signer;
    private final Map<String, String> tokens = new ConcurrentHashMap<>();
    private final String service;

    public UserTokens(TokenSigner signer) {
        this.signer = signer;
        this.service = signer.sign(new UserId("backend"), Set.of(), Role.SERVICE, TTL);
    }

    /** Of a user who is in {@link Api#GROUP}. */
    String of(String name) {
        return tokens.computeIfAbsent(
                name, user -> signer.sign(new UserId(user), Set.of(new GroupId(Api.GROUP)), Role.USER, TTL));
    }

    /** Of the host's backend. */
    String service() {
        return service;
    }
}

package dev.hongbao.server;

import dev.hongbao.common.config.TokenConfig;
import java.util.List;

/** Servers of one database must believe the same tokens, or users are let in by one and refused by the next. Pure. */
final class TokenKeysRule {
    private TokenKeysRule() {}

    /**
     * With a shared secret nobody else is right. Public keys may be rotated server by server, so that they only warn.
     *
     * @param own fingerprint of this server's keys
     * @param others fingerprints of the servers' that are alive and have others
     */
    static List<StartFinding> check(TokenConfig token, int own, List<Integer> others) {
        if (others.isEmpty()) {
            return List.of();
        }
        String text = "another server of this database believes other tokens: its keys' fingerprint is "
                + Integer.toHexString(others.get(0)) + ", ours is " + Integer.toHexString(own) + "; ";
        if (!token.algorithm().isSymmetric()) {
            return List.of(StartFinding.warn(
                    "token.public-key-files: " + text + "unless keys are being changed, give both the same files"));
        }
        return List.of(StartFinding.refuse("token.secret-file: " + text
                + (token.secretFile() == null
                        ? "it is not set, so that this server made a key of its own; give both the same file"
                        : "give both the same file, and to change it stop all servers first")));
    }
}

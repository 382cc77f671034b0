package dev.hongbao.server;

import dev.hongbao.common.config.TokenConfig;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Servers of one database must believe the same tokens, or users are let in by one and refused by the next. Pure. */
final class TokenKeysRule {
    private TokenKeysRule() {}

    /**
     * While keys are being changed, servers that have a key in common differ in others: that only warns. Without a common key
     * one of them has a wrong secret. Public keys may be changed all at once, so that they only warn.
     *
     * @param own fingerprints of this server's keys
     * @param servers those of each server that is alive; this one may be among them
     */
    static List<StartFinding> check(TokenConfig token, Set<Integer> own, List<Set<Integer>> servers) {
        List<Set<Integer>> different =
                servers.stream().filter(keys -> !keys.equals(own)).toList();
        List<Set<Integer>> disjoint = different.stream()
                .filter(keys -> Collections.disjoint(keys, own))
                .toList();
        if (different.isEmpty()) {
            return List.of();
        }
        boolean symmetric = token.algorithm().isSymmetric();
        String option = symmetric ? "token.secret-file: " : "token.algorithm: ";
        if (!symmetric || disjoint.isEmpty()) {
            return List.of(StartFinding.warn(option + others(different.get(0), own)
                    + "unless keys are being changed, give both servers the same ones"));
        }
        return List.of(StartFinding.refuse(option
                + others(disjoint.get(0), own)
                + (token.secrets().file() == null
                        ? "it is not set, so that this server made a key of its own; give both the same file"
                        : "give both the same file; to change the secret, name the other one in"
                                + " token.further-secret-files meanwhile")));
    }

    private static String others(Set<Integer> theirs, Set<Integer> own) {
        return "another server of this database believes other tokens: its keys' fingerprint is " + text(theirs)
                + ", ours is " + text(own) + "; ";
    }

    /** For the log, in an order that two servers can be compared by. */
    static String text(Set<Integer> fingerprints) {
        return fingerprints.stream().map(Integer::toHexString).sorted().collect(Collectors.joining("+"));
    }
}

package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.TokenConfig;
import dev.hongbao.engine.writer.Presence;
import dev.hongbao.web.access.KeyRing;
import dev.hongbao.web.access.Tokens;
import dev.hongbao.web.access.VerificationKey;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of the tokens that this server accepts. It shows their fingerprints to the other servers of its database, at the start and when the keys
 * change.
 */
final class TokenTrust implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TokenTrust.class);

    private final TokenConfig config;
    private final KeyRing keys;
    private final Tokens tokens;

    private TokenTrust(TokenConfig config, KeyRing keys, Tokens tokens) {
        this.config = config;
        this.keys = keys;
        this.tokens = tokens;
    }

    /** Reads the keys, see {@link TokenRules#keys}. Blocks. */
    static TokenTrust open(HongbaoConfig config, Clock clock) throws IOException {
        TokenConfig token = config.web().token();
        KeyRing keys = TokenRules.keys(token, config.engine().data());
        Tokens.Settings settings = new Tokens.Settings(
                List.copyOf(keys.keys()),
                token.claims().issuer(),
                token.claims().audience(),
                Duration.ZERO,
                token.claims().maxLife(),
                Tokens.Settings.DEFAULT_CACHE_BYTES);
        return new TokenTrust(token, keys, new Tokens(settings, clock));
    }

    Tokens tokens() {
        return tokens;
    }

    /** Shows this server's fingerprints to the other servers. Beside a server with other keys, this one owns no shard. */
    Presence presence(String database) {
        return new Presence(own(database), servers -> StartChecks.enforce(check(config, own(database), servers)));
    }

    private Set<Integer> own(String database) {
        return KeyRing.fingerprints(keys.keys(), database);
    }

    /** Follows changes of the files and the URL. Once. */
    void follow(Presence presence, String database) {
        keys.watch(config.refreshInterval(), changed -> use(changed, presence, database));
    }

    private void use(Set<VerificationKey> changed, Presence presence, String database) {
        tokens.trust(changed);
        Set<Integer> own = KeyRing.fingerprints(changed, database);
        presence.change(own);
        LOG.info("the keys of tokens have changed; their fingerprint is {} now", text(own));
    }

    /** Ends {@link #follow}. Idempotent. */
    @Override
    public void close() {
        keys.close();
    }

    /**
     * Servers of one database must accept the same tokens, or a user passes one server and fails at the next. During a change of keys, servers
     * with a common key may differ in others: that warns. Without a common key, one of them has a wrong secret: that refuses. Public keys may
     * all change at once, so they only warn.
     *
     * @param own fingerprints of this server's keys
     * @param servers the fingerprints of each live server, perhaps with this one
     */
    static List<Diagnosis> check(TokenConfig token, Set<Integer> own, List<Set<Integer>> servers) {
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
            return List.of(Check.OTHER_KEYS.found(option + others(different.get(0), own)
                    + "unless keys are being changed, give both servers the same ones"));
        }
        return List.of(Check.FOREIGN_KEYS.found(option
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

    /** Sorted, so that an operator can compare two servers. */
    static String text(Set<Integer> fingerprints) {
        return fingerprints.stream().map(Integer::toHexString).sorted().collect(Collectors.joining("+"));
    }
}

package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.TokenConfig;
import dev.hongbao.engine.writer.Presence;
import dev.hongbao.web.access.KeyRing;
import dev.hongbao.web.access.TokenFingerprint;
import dev.hongbao.web.access.TokenSettings;
import dev.hongbao.web.access.Tokens;
import dev.hongbao.web.access.VerificationKey;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which tokens this server believes, and that it tells the other servers of its database by which keys: at the start, and when the
 * keys change while it runs.
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
        TokenSettings settings = new TokenSettings(
                List.copyOf(keys.keys()),
                token.claims().issuer(),
                token.claims().audience(),
                Duration.ZERO,
                token.claims().maxLife(),
                TokenSettings.DEFAULT_CACHE_BYTES);
        return new TokenTrust(token, keys, new Tokens(settings, clock));
    }

    Tokens tokens() {
        return tokens;
    }

    /** What the other servers of the database are to be shown; this one owns no shard beside one that believes other tokens. */
    Presence presence(String database) {
        return new Presence(
                own(database), servers -> StartChecks.enforce(TokenKeysRule.check(config, own(database), servers)));
    }

    private Set<Integer> own(String database) {
        return TokenFingerprint.of(keys.keys(), database);
    }

    /** Follows changes of the files and the URL from now on. Once. */
    void follow(Presence presence, String database) {
        keys.watch(config.refreshInterval(), changed -> use(changed, presence, database));
    }

    private void use(Set<VerificationKey> changed, Presence presence, String database) {
        tokens.trust(changed);
        Set<Integer> own = TokenFingerprint.of(changed, database);
        presence.change(own);
        LOG.info("the keys of tokens have changed; their fingerprint is {} now", TokenKeysRule.text(own));
    }

    /** Follows no more changes; idempotent. */
    @Override
    public void close() {
        keys.close();
    }
}

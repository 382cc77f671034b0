package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.HttpConfig;
import dev.hongbao.common.config.LimitsConfig;
import dev.hongbao.common.config.PacketConfig;
import dev.hongbao.web.access.CallsInFlight;
import dev.hongbao.web.access.Limit;
import dev.hongbao.web.access.RateLimitSettings;
import dev.hongbao.web.http.ClientAddresses;
import dev.hongbao.web.http.ConnectionCap;
import dev.hongbao.web.http.HttpSettings;
import dev.hongbao.web.http.Origins;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;

/** What the configuration comes to for the faces. */
final class FaceSettings {
    /** How long a stopping server waits for answers in flight. */
    private static final Duration DRAIN_LIMIT = Duration.ofSeconds(3);

    private FaceSettings() {}

    static RateLimitSettings limits(LimitsConfig config, PacketConfig packets) {
        int shares = config.rates().shares();
        int guesses = config.wrongPasscodes().perMinute();
        RateLimitSettings defaults = RateLimitSettings.DEFAULT;
        return new RateLimitSettings(
                perSecond(config.rates().claims()),
                perSecond(config.rates().requests()),
                defaults.service(),
                shares == 0 ? Limit.OFF : new Limit(shares, Math.max(shares, packets.maxCount())),
                guesses == 0 ? Limit.OFF : Limit.of(guesses, Duration.ofMinutes(1)),
                defaults.trackedUsers());
    }

    static CallsInFlight inFlight(HongbaoConfig config) {
        LimitsConfig.InFlight limits = config.web().limits().inFlight();
        return new CallsInFlight(
                limits.calls(),
                limits.serviceCalls(),
                limits.polls(),
                config.web().http().timeouts().answer().toMillis());
    }

    static ClientAddresses addresses(HttpConfig config) {
        return ClientAddresses.of(config.proxies().trusted());
    }

    static Origins origins(HttpConfig config) {
        return new Origins(config.connections().origins());
    }

    /** @param most in all; fewer than configured where fewer files may be open */
    static ConnectionCap connections(HttpConfig config, int most, ClientAddresses addresses, MeterRegistry metrics) {
        return new ConnectionCap(most, config.connections().maxPerAddress(), addresses, metrics);
    }

    /** Twice a second's calls at once: a double click is no attack. */
    private static Limit perSecond(int calls) {
        return calls == 0 ? Limit.OFF : new Limit(calls, calls * 2);
    }

    static HttpSettings http(HongbaoConfig config) {
        HttpConfig http = config.web().http();
        HttpSettings.Timeouts defaults = HttpSettings.Timeouts.DEFAULT;
        return new HttpSettings(
                http.address(),
                HttpSettings.MAX_BODY_BYTES,
                new HttpSettings.Timeouts(
                        defaults.header(),
                        defaults.body(),
                        http.timeouts().idle(),
                        http.timeouts().answer(),
                        config.web().socket().timeouts().slow(),
                        DRAIN_LIMIT),
                origins(http),
                http.proxies().basePath(),
                http.proxies().protocol() == HttpConfig.ProxyProtocol.ON
                        ? http.proxies().trusted()
                        : List.of());
    }
}

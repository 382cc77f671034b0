package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.json.Text;
import dev.hongbao.web.access.TokenSigner;
import dev.hongbao.web.demo.DemoLogin;
import java.io.IOException;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/** Whether visitors are let in: only by a start for trying it out, on this machine alone. */
final class DemoRules {
    private DemoRules() {}

    /** Blocks on the disk. */
    static DemoLogin login(HongbaoConfig config, Clock clock) throws IOException {
        Text why = whyOff(config);
        if (why != null) {
            return DemoLogin.off(why);
        }
        byte[] secret = TokenRules.secret(config.web().token(), config.engine().data());
        return DemoLogin.open(
                new TokenSigner(
                        secret,
                        config.web().token().claims().issuer(),
                        config.web().token().claims().audience(),
                        clock),
                clock);
    }

    /** A sentence for the visitor; null when nothing speaks against it. */
    static @Nullable Text whyOff(HongbaoConfig config) {
        if (!config.engine().redis().isEmbedded() || !config.engine().postgres().isEmbedded()) {
            return Text.of("demo.off-stores");
        }
        if (!config.web().token().algorithm().isSymmetric()
                || config.web().token().secrets().file() != null) {
            return Text.of("demo.off-tokens");
        }
        if (!MachineChecks.isLoopback(config.web().http().address().host())) {
            return Text.of("demo.off-address");
        }
        return null;
    }
}

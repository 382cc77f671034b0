package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.web.access.TokenSigner;
import dev.hongbao.web.demo.DemoLogin;
import java.io.IOException;
import java.time.Clock;

/** Whether visitors are let in: only by a start for trying it out, on this machine alone. */
final class DemoRules {
    private DemoRules() {}

    /** Blocks on the disk. */
    static DemoLogin login(HongbaoConfig config, Clock clock) throws IOException {
        String why = whyOff(config);
        if (!why.isEmpty()) {
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

    /** A sentence for the visitor; empty when nothing speaks against it. */
    static String whyOff(HongbaoConfig config) {
        if (!config.engine().redis().isEmbedded() || !config.engine().postgres().isEmbedded()) {
            return "The demo login is off, because this server keeps its data in configured servers.";
        }
        if (!config.web().token().algorithm().isSymmetric()
                || config.web().token().secrets().file() != null) {
            return "The demo login is off, because this server takes the tokens of your own issuer.";
        }
        if (!ListenRules.isLoopback(config.web().http().address().host())) {
            return "The demo login is off, because this server listens on more than this machine.";
        }
        return "";
    }
}

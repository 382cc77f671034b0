package dev.hongbao.web.http;

import dev.hongbao.common.config.ListenAddress;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.Role;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The rule that callers of the service role need a client certificate beside the token, so that a stolen token is useless
 * elsewhere. The handshake accepts only certificates of the authority, or none.
 * @param isNeeded whether this listener has the
 * rule
 */
public record ServiceCertificate(boolean isNeeded) {
    /** The rule of a listener's configuration. */
    public static ServiceCertificate on(ListenAddress address) {
        ListenAddress.Tls tls = address.tls();
        return new ServiceCertificate(tls != null && tls.clientAuthority() != null);
    }

    /**
     * The refusal of a caller without the required certificate; null if the caller is admitted.
     *
     * @param session of the connection; null when it has no TLS
     */
    public @Nullable Problem refusal(Caller caller, @Nullable SSLSession session) {
        return isNeeded && caller.role() == Role.SERVICE && !isShown(session)
                ? Problem.of(ProblemType.FORBIDDEN, Reason.CERTIFICATE, Text.of("token.certificate"))
                : null;
    }

    private static boolean isShown(@Nullable SSLSession session) {
        try {
            return session != null && session.getPeerCertificates().length > 0;
        } catch (SSLPeerUnverifiedException none) {
            return false;
        }
    }
}

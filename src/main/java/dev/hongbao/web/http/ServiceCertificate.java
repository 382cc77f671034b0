package dev.hongbao.web.http;

import dev.hongbao.common.config.ListenAddress;
import dev.hongbao.common.config.ListenTls;
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
 * Whether a caller of the service role has to show a certificate beside its token, so that a token that was stolen is of no use
 * elsewhere. A handshake lets in only certificates that the authority has signed, or none.
 *
 * @param isNeeded whether the rule holds on this listener
 */
public record ServiceCertificate(boolean isNeeded) {
    /** As the listener is configured. */
    public static ServiceCertificate on(ListenAddress address) {
        ListenTls tls = address.tls();
        return new ServiceCertificate(tls != null && tls.clientAuthority() != null);
    }

    /**
     * What a caller is told who has none and needs one; null for whom may come in.
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

package dev.hongbao.web.webhook;

import dev.hongbao.domain.webhook.AddressGuard;
import io.vertx.core.http.HttpClosedException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Describes why a receiver gave no answer, for the list of deliveries. */
final class DeliveryFault {
    private static final int MAX_LENGTH = 200;

    private DeliveryFault() {}

    /** @return at most 200 characters */
    static String text(Throwable fault) {
        if (fault instanceof TimeoutException) {
            return "no answer in time";
        }
        if (fault instanceof AddressGuard.ForbiddenException forbidden) {
            return String.valueOf(forbidden.getMessage());
        }
        if (fault instanceof UnknownHostException) {
            return "its host is not known";
        }
        String certificate = ofCertificate(fault);
        String text = certificate != null ? certificate : ofConnection(fault);
        return text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) : text;
    }

    /** The message without Java class names. */
    private static String ofConnection(Throwable fault) {
        if (fault instanceof ConnectException || fault instanceof NoRouteToHostException) {
            return "nobody takes connections at its address";
        }
        if (fault instanceof SSLException) {
            return "no TLS connection with it: " + fault.getMessage();
        }
        return fault instanceof IOException || fault instanceof HttpClosedException
                ? "it closed the connection before it had answered"
                : "its answer is not HTTP that this server reads";
    }

    /** The innermost cause with a message: the JDK wraps causes. */
    private static @Nullable String ofCertificate(Throwable fault) {
        String found = null;
        for (Throwable cause = fault; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertificateExpiredException || cause instanceof CertificateNotYetValidException) {
                found = "its certificate is not valid at this time";
            } else if (cause instanceof CertPathBuilderException) {
                found = "its certificate is signed by nobody who is trusted";
            } else if (cause instanceof CertificateException) {
                found = "its certificate is refused: " + cause.getMessage();
            }
        }
        return found;
    }
}

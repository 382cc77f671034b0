package dev.hongbao.cli;

import dev.hongbao.config.ConfigLoader;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.config.WebConfig.TokenConfig;
import java.io.File;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The output of a started server: one line that ends in its address. A first start at a terminal also prints lines to paste into
 * a second terminal. They hold no token, only the commands that make one.
 *
 * @param command how another command of this program is started, as a shell would read it
 * @param port the API's port in use
 * @param managementPort the management port in use
 */
record FirstSteps(ConfigLoader.Loaded loaded, String command, int port, int managementPort) {
    /** Options that the token command needs to sign tokens for this server. */
    private static final Set<String> TOKEN_OPTIONS =
            Set.of("data.dir", "token.algorithm", "token.secret-file", "token.issuer", "token.audience");

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_./:@%+=,-]+");

    /** One line without its end; also names where health and metrics are. */
    String ready() {
        return "Hongbao " + Hongbao.version() + ", metrics " + management() + "/metrics, ready " + url();
    }

    private String management() {
        return address(loaded.config().web().management().address(), managementPort);
    }

    String text() {
        TokenConfig token = loaded.config().web().token();
        return ready() + "\n\n"
                + (token.algorithm().isSymmetric() ? steps() : foreignTokens(token))
                + "# The page, for two tabs as two people: " + url() + "\n"
                + "# The console: " + management() + "/\n";
    }

    /** The API's address for a client on this machine. */
    String url() {
        return address(loaded.config().web().http().address(), port);
    }

    private String steps() {
        return """
            # Paste into another terminal: alice gets 100 yuan and sends a packet of five, bob claims a share.
            URL=%s
            SERVICE=$(%s --user backend --role service)
            ALICE=$(%s --user alice --group family)
            BOB=$(%s --user bob --group family)
            curl -s $URL/v1/accounts/alice/deposits -H "Authorization: Bearer $SERVICE" \\
              -H "Idempotency-Key: first-deposit" -H "Content-Type: application/json" \\
              -d '{"asset":"CNY","amount":10000}'
            PACKET=$(curl -s $URL/v1/packets -H "Authorization: Bearer $ALICE" \\
              -H "Idempotency-Key: packet-$(date +%%s)" -H "Content-Type: application/json" \\
              -d '{"group":"family","kind":"lucky","asset":"CNY","amount":888,"count":5,"greeting":"恭喜发财"}' \\
              | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
            curl -s -X POST $URL/v1/packets/$PACKET/claims -H "Authorization: Bearer $BOB"
            """.formatted(url(), tokenCommand(), tokenCommand(), tokenCommand());
    }

    private static String foreignTokens(TokenConfig token) {
        return "# Tokens come from your own issuer (" + token.algorithm()
                + "): sub, groups, exp, and role service for the" + " backend.\n";
    }

    private String tokenCommand() {
        String flags = loaded.effective().stream()
                .filter(each -> TOKEN_OPTIONS.contains(each.option().path()) && !each.isDefault())
                .map(each -> " "
                        + each.option().shortFlags().stream()
                                .findFirst()
                                .orElse(each.option().flag()) + " " + quote(each.text()))
                .collect(Collectors.joining());
        return command + " token" + flags;
    }

    private static String address(ListenAddress listens, int port) {
        String host = listens.host();
        boolean isAny = host.equals("0.0.0.0") || host.equals("::");
        String shown = isAny ? "127.0.0.1" : host;
        return (listens.tls() == null ? "http://" : "https://") + (shown.contains(":") ? "[" + shown + "]" : shown)
                + ":" + port;
    }

    /** The command line of this program: {@code java -jar} with the path of the jar as it was typed; run from classes, the path of the build's jar. */
    static String program() {
        return program(System.getProperty("java.class.path", ""));
    }

    static String program(String classPath) {
        boolean isOneJar = classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator);
        return "java -jar "
                + quote(isOneJar ? classPath : Path.of("target", "hongbao.jar").toString());
    }

    /** The text as one word of a POSIX shell. */
    static String quote(String text) {
        return PLAIN.matcher(text).matches() ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}

package dev.hongbao.cli;

import dev.hongbao.access.Profile;
import dev.hongbao.access.TokenSigner;
import dev.hongbao.access.TokenTrust;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.WebConfig.TokenConfig;
import dev.hongbao.store.Stores;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Signs a token with the key of the data directory or the configured secret, and prints nothing else. */
@Command(
        name = "token",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "Prints a signed token, for trying things out and for the host application's backend.",
            "The key is token.key in the data directory, or token.secret-file."
        })
final class TokenCommand implements Callable<Integer> {
    private static final Duration MAX_TTL = Duration.ofDays(365);

    private final ConfigFlags config;

    @Option(
            names = "--user",
            required = true,
            paramLabel = "USER",
            description = "The user or service of the token (claim sub).")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private UserId user;

    @Option(
            names = "--group",
            paramLabel = "GROUP",
            description = "A group the user may act in; may be given several times.")
    private Set<GroupId> groups = new LinkedHashSet<>();

    @Option(
            names = "--role",
            defaultValue = "user",
            paramLabel = "ROLE",
            description = "user, or service for the host application's backend. Default user.")
    private Role role = Role.USER;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "The user's display name (claim name), 1 to 64 characters.")
    private @Nullable String name;

    @Option(
            names = "--picture",
            paramLabel = "URL",
            description = "The https address of a picture of the user (picture).")
    private @Nullable String picture;

    @Option(
            names = "--ttl",
            defaultValue = "24h",
            paramLabel = "DURATION",
            description = "The token's lifetime: 1s … token.max-life (31d by default). Default 24h.")
    private Duration ttl = Duration.ofHours(24);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    TokenCommand(ConfigFlags config) {
        this.config = config;
    }

    @Override
    public Integer call() throws IOException {
        if (ttl.compareTo(Duration.ofSeconds(1)) < 0 || ttl.compareTo(MAX_TTL) > 0) {
            throw new ParameterException(spec.commandLine(), "--ttl must be 1s … 365d");
        }
        Profile shown = Profile.ofToken(name, picture);
        if (!Objects.equals(shown.displayName(), name)
                || !Objects.equals(
                        shown.avatar() == null ? null : shown.avatar().value(), picture)) {
            throw new ParameterException(
                    spec.commandLine(), "--name is a name without control characters, --picture an https URL");
        }
        HongbaoConfig loaded = config.load().config();
        TokenConfig token = loaded.web().token();
        if (ttl.compareTo(token.maxLife()) > 0) {
            throw new ParameterException(
                    spec.commandLine(), "--ttl is longer than token.max-life: no server would accept it");
        }
        if (!token.algorithm().isSymmetric()) {
            spec.commandLine()
                    .getErr()
                    .println("hongbao: token.algorithm is " + token.algorithm()
                            + ": only the issuer has the private key; ask it for a token");
            return ExitCode.SOFTWARE;
        }
        Logging.choose(loaded.log());
        if (token.secretFile() == null) {
            Stores.requireDirectory(loaded);
        }
        TokenSigner signer = new TokenSigner(
                TokenTrust.secret(token, loaded.engine().tokenKeyFile()),
                token.issuer(),
                token.audience(),
                Clock.systemUTC());
        String signed = signer.sign(user, groups, role, ttl, shown);
        spec.commandLine().getOut().println(signed);
        return ExitCode.OK;
    }
}

package dev.hongbao.config;

import dev.hongbao.config.HongbaoConfig.ConfigException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Files that hold one option with a password. They keep the password off the command line, the environment and the file with
 * other options. Orchestrators mount such files.
 */
final class SecretFiles {
    /** Longer than any URL. */
    static final int MAX_BYTES = 8 * 1_024;

    private static final String SUFFIX = "-file";

    private final Map<String, ConfigLoader.Setting> settings;
    private final List<ConfigException.Fault> faults;

    /**
     * @param settings unread texts by option path; the contents of files are added
     * @param faults takes faults, never with the contents of a file
     */
    SecretFiles(Map<String, ConfigLoader.Setting> settings, List<ConfigException.Fault> faults) {
        this.settings = settings;
        this.faults = faults;
    }

    /** Whether an option of this kind may come from its own file. */
    static boolean mayHold(ConfigOption.Kind kind) {
        return kind == ConfigOption.Kind.REDIS_URL || kind == ConfigOption.Kind.POSTGRES_URL;
    }

    static Option<Optional<Path>> optionFor(String path) {
        return new Option<>(
                path + SUFFIX,
                OptionType.file(),
                "",
                "A file with the value of " + path + " and nothing else. Give one of the two.",
                false,
                List.of());
    }

    /** Adds to each URL the file that it came from. */
    static void nameIn(Map<String, Object> values) {
        values.replaceAll((path, value) -> value instanceof Optional<?> optional
                        && optional.orElse(null) instanceof SecretUrl url
                        && values.get(path + SUFFIX) instanceof Optional<?> file
                        && file.orElse(null) instanceof Path from
                ? Optional.of(new SecretUrl(url.value(), from))
                : value);
    }

    private static String pathFor(Option<?> secret) {
        return secret.path() + SUFFIX;
    }

    /** An unreadable file is reported by the check of the option that names it. */
    void read() {
        for (Option<?> option : Option.ALL) {
            ConfigLoader.Setting named = given(pathFor(option));
            if (named == null) {
                continue;
            }
            ConfigLoader.Setting twice = given(option.path());
            if (twice != null) {
                fault(
                        option,
                        named,
                        "names a file, and " + option.path() + " is given as well (" + twice.origin()
                                + "): give one of the two");
            } else if (OptionType.file().allows(named.text())) {
                read(option, named, Path.of(named.text().strip()));
            }
        }
    }

    private void read(Option<?> option, ConfigLoader.Setting named, Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString()
                    .strip();
            if (bytes.length > MAX_BYTES) {
                fault(option, named, file + " has more than " + MAX_BYTES + " bytes");
            } else if (text.isEmpty()) {
                fault(option, named, file + " is empty");
            } else {
                settings.put(option.path(), new ConfigLoader.Setting(text, "file " + file));
            }
        } catch (CharacterCodingException e) {
            fault(option, named, file + " is not UTF-8");
        } catch (IOException e) {
            fault(option, named, file + " cannot be read");
        }
    }

    private void fault(Option<?> option, ConfigLoader.Setting named, String problem) {
        faults.add(new ConfigException.Fault(pathFor(option), named.origin(), problem));
    }

    private ConfigLoader.@Nullable Setting given(String path) {
        ConfigLoader.Setting setting = settings.get(path);
        return setting == null || setting.text().isBlank() ? null : setting;
    }
}

package dev.hongbao.common.config;

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
 * Options that may hold a password, and the files that hold them instead, so that a password is on no command line, in no
 * environment and in no file with other options. Orchestrators mount such files.
 */
final class SecretFiles {
    /** Longer than any URL. */
    static final int MAX_BYTES = 8 * 1_024;

    private static final String SUFFIX = "-file";

    private final Map<String, Setting> settings;
    private final List<ConfigFault> faults;

    /**
     * @param settings by option path, before they are read; what files hold is added
     * @param faults what is wrong is added, never with what a file holds
     */
    SecretFiles(Map<String, Setting> settings, List<ConfigFault> faults) {
        this.settings = settings;
        this.faults = faults;
    }

    /** Whether what may hold a password may stand in a file of its own. */
    static boolean mayHold(ConfigOption.Kind kind) {
        return kind == ConfigOption.Kind.REDIS_URL || kind == ConfigOption.Kind.POSTGRES_URL;
    }

    /** The option that names the file. */
    static Option<Optional<Path>> optionFor(String path) {
        return new Option<>(
                path + SUFFIX,
                OptionType.file(),
                "",
                "A file that holds " + path + " and nothing else: give one of the two.",
                false,
                List.of());
    }

    /** Names in each URL the file that it was read from. */
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

    /** A file that cannot be read is left to the check of the option that names it. */
    void read() {
        for (Option<?> option : Options.ALL) {
            Setting named = given(pathFor(option));
            if (named == null) {
                continue;
            }
            Setting twice = given(option.path());
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

    private void read(Option<?> option, Setting named, Path file) {
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
                settings.put(option.path(), new Setting(text, "file " + file));
            }
        } catch (CharacterCodingException e) {
            fault(option, named, file + " is not UTF-8");
        } catch (IOException e) {
            fault(option, named, file + " cannot be read");
        }
    }

    private void fault(Option<?> option, Setting named, String problem) {
        faults.add(new ConfigFault(pathFor(option), named.origin(), problem));
    }

    private @Nullable Setting given(String path) {
        Setting setting = settings.get(path);
        return setting == null || setting.text().isBlank() ? null : setting;
    }
}

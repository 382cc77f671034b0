package dev.hongbao.common.config;

import dev.hongbao.common.config.ConfigOption.Kind;
import java.nio.file.Path;

/** The server's own files. */
public record DataConfig(
        @ConfigOption(
                path = "data.dir",
                kind = Kind.DIRECTORY,
                unset = "./data",
                doc = "The directory of the token key and of the embedded Redis and Postgres.")
        Path dir) {
    /** The HS256 key that is made at first use. */
    public Path tokenKeyFile() {
        return dir.resolve("token.key");
    }
}

package dev.hongbao.common.config;

import dev.hongbao.common.config.ConfigOption.Kind;
import java.nio.file.Path;

/** Where the server keeps its own files. */
public record DataConfig(
        @ConfigOption(
                path = "data.dir",
                kind = Kind.DIRECTORY,
                unset = "./data",
                doc = "Where the token key and the embedded Redis and Postgres keep their files.")
        Path dir) {
    /** The HS256 key that is made at first use. */
    public Path tokenKeyFile() {
        return dir.resolve("token.key");
    }
}

package dev.hongbao.common.config;

import java.nio.file.Path;

/**
 * Where the server keeps its own files.
 *
 * @param dir as configured, maybe relative to the working directory; made when missing
 */
public record DataConfig(Path dir) {
    public DataConfig {
        Options.DATA_DIR.require(dir);
    }

    static DataConfig from(OptionValues values) {
        return new DataConfig(values.get(Options.DATA_DIR));
    }

    /** The HS256 key that is made at first use. */
    public Path tokenKeyFile() {
        return dir.resolve("token.key");
    }
}
